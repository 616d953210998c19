#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from config.errors import DomainError

    try:
        execute_from_command_line(sys.argv)
    except DomainError as error:  # the only place that turns errors of services into those of commands
        sys.exit(error.sentence or str(error))
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Exception as error:
        sys.exit(_status_after(error))


def _status_after(error: Exception) -> int | str:
    """Return the exit status: a sentence if one helps, else 1 after logging the error.

    Without a terminal, Python's output goes to a log, and an exception's message may hold values of a record.
    """
    import structlog
    from django.db import OperationalError, ProgrammingError

    from config.db import lacks_migrations

    if isinstance(error, OperationalError | ProgrammingError):
        try:
            if lacks_migrations():
                return "The database does not have all tables of this version: run `manage.py migrate` first."
        except OperationalError:
            pass  # the database does not answer
    if sys.stderr.isatty() or not structlog.is_configured():
        raise error
    structlog.get_logger("manage").error("command failed", command=sys.argv[1], exc_info=error)
    return 1


if __name__ == "__main__":
    main()
