#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, ProgrammingError

    from config.errors import DomainError

    try:
        execute_from_command_line(sys.argv)
    except DomainError as error:  # the one place where errors of services become those of commands
        sys.exit(error.sentence or str(error))
    except (OperationalError, ProgrammingError):
        from config.db import lacks_migrations

        if not lacks_migrations():
            raise
        sys.exit("The database does not have all tables of this version: run `manage.py migrate` first.")
    except ImproperlyConfigured as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
