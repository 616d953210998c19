from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import token_hashing
from config import wrapped_secrets
from config.errors import DomainError
from custody import services
from custody.models import Key


class Command(BaseCommand):
    help = (
        "Take the keys that earlier versions kept in files under DATA_DIR/keys, and SECRET_KEY where digests rest on "
        "it, into the database, wrapped under the master key. Running it again is safe. Exits 1 if a key is missing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        wrapped_secrets.require_master_key()  # a key imported under a wrong master key would be unusable
        folder = settings.DATA_DIR / "keys"
        rows = Key.with_secret().filter(wrapped_by="")
        imports = [
            partial(token_hashing.import_pepper, folder),
            *(partial(services.import_key_file, row, folder) for row in rows.order_by("organization_id", "pk")),
        ]
        imported = missing = 0
        for take_in in imports:
            try:
                imported += take_in()
            except DomainError as error:
                missing += 1
                self.stderr.write(f"Missing: {error}")
        if imported:
            self.stdout.write(f"{imported} imported; the files in {folder} but master_key are not read any more")
        if missing:
            raise CommandError(f"{missing} missing: put their files back from a backup, and run this again.")
