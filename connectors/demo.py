"""Demo data: a folder with an export of real decisions, and a connector that polls it."""

import os
import time

from django.conf import settings

from accounts import callers
from accounts.models import Organization
from config import secret_files
from connectors import services
from connectors.models import Connector, Kind
from decisions import samples

NAME = "Export of mortgage decisions"
FILE = "mortgage_decisions.ndjson"


def poll_export(organization: Organization) -> None:
    """Create a connector for a folder with the samples that no other demo step uses, and poll it."""
    folder = settings.IMPORTS_DIR
    if str(folder) not in settings.CONNECTOR_DIRECTORIES:
        return
    if Connector.objects.for_organization(organization).exists():
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    secret_files.replace(folder / FILE, b"\n".join(list(samples.mortgage_records())[-samples.EXPORTED :]) + b"\n")
    os.utime(folder / FILE, (time.time() - 60,) * 2)  # a connector skips files that may still be written to
    shell = callers.command_line(organization.pk)
    config = {"path": str(folder), "pattern": "*.ndjson"}
    services.create_connector(caller=shell, kind=Kind.DIRECTORY, name=NAME, config=config)
    services.poll_due()
