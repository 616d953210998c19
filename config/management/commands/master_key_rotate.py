from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import master_key, wrapped_secrets
from config.progress import progress
from config.wrapped_secrets import MasterKeyWrong, WrappedSecret


class Command(BaseCommand):
    help = (
        "Wrap every secret in the database under the newest master key. With MASTER_KEY set, give the earlier one as "
        "MASTER_KEY_PREVIOUS. With the file, the first run makes a new key beside it, and the second, after a restart, "
        "wraps. Running it again goes on where it stopped."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.DATA_DIR / "keys"
        try:
            wrapped_secrets.probe()
        except MasterKeyWrong as error:
            raise CommandError(
                f"{error}. Put the right master key back first, the earlier one beside a new one."
            ) from None
        if not settings.MASTER_KEY_IS_SET:
            if master_key.renew_file(folder):
                self.stdout.write("A new master key is made. Start web and workers again, then run this once more.")
                return
            if master_key.load("", "", folder)[0] != settings.MASTER_KEYS[0]:  # this process read the file before that
                raise CommandError("A new master key was made just now. Run this once more.")
        total = 0
        while waiting := _waiting():  # a process that was not started again may have added some meanwhile
            with progress("Wrapping secrets", len(waiting)) as advance:
                for row in waiting:
                    _wrap_anew(row)
                    advance(1)
            total += len(waiting)
        self.stdout.write(
            f"{total} wrapped anew, all secrets are under the newest master key. Back it up; then take the "
            "earlier one away (MASTER_KEY_PREVIOUS, or the file master_key.previous) and start web and workers again."
        )


def _waiting() -> list[WrappedSecret]:
    newest = master_key.key_id(settings.MASTER_KEYS[0])
    return [row for model in wrapped_secrets.kinds() for row in model.with_secret().exclude(wrapped_by=newest)]


def _wrap_anew(row: WrappedSecret) -> None:
    rows = type(row)._base_manager.filter(pk=row.pk, wrapped=row.wrapped, wrapped_by=row.wrapped_by)
    row.wrap(row.unwrap())
    rows.update(wrapped=row.wrapped, wrapped_by=row.wrapped_by)
