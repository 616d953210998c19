from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import master_key, wrapped_secrets
from config.progress import progress
from config.wrapped_secrets import MasterKeyWrong, WrappedSecret


class Command(BaseCommand):
    help = (
        "Wrap every secret in the database under the newest master key. With MASTER_KEY, set the earlier one as "
        "MASTER_KEY_PREVIOUS. With a key file, the first run creates a new key beside it, and the second run, after a "
        "restart, wraps. If it is interrupted, run it again to continue."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.DATA_DIR / "keys"
        try:
            wrapped_secrets.probe()
        except MasterKeyWrong as error:
            raise CommandError(
                f"{error}. Restore the right master key first, the earlier one beside a new one."
            ) from None
        if not settings.MASTER_KEY_IS_SET:
            if master_key.renew_file(folder):
                self.stdout.write("A new master key was created. Restart web and workers, then run this command again.")
                return
            if master_key.load("", "", folder)[0] != settings.MASTER_KEYS[0]:  # this process read the file earlier
                raise CommandError("Another process has just created a new master key. Run this command again.")
        total = 0
        while outdated := _outdated():  # a process that was not restarted may add secrets under the earlier key
            with progress("Wrapping secrets", len(outdated)) as advance:
                for row in outdated:
                    _rewrap(row)
                    advance(1)
            total += len(outdated)
        self.stdout.write(
            f"Wrapped {total} secrets: all are under the newest master key. Back it up. Then remove the earlier one "
            "(MASTER_KEY_PREVIOUS, or the file master_key.previous) and restart web and workers."
        )


def _outdated() -> list[WrappedSecret]:
    newest = master_key.key_id(settings.MASTER_KEYS[0])
    return [row for model in wrapped_secrets.kinds() for row in model.with_secret().exclude(wrapped_by=newest)]


def _rewrap(row: WrappedSecret) -> None:
    rows = type(row)._base_manager.filter(pk=row.pk, wrapped=row.wrapped, wrapped_by=row.wrapped_by)
    row.wrap(row.unwrap())
    rows.update(wrapped=row.wrapped, wrapped_by=row.wrapped_by)
