from collections import Counter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import audit, services
from accounts.models import Organization
from accounts.roles import Role
from config.progress import progress
from config.secret_files import read_or_create
from decisions import samples
from decisions.services import ingest_lines

SLUG = "demo"
OWNER = "owner@demo.example"
OPERATOR = "operator@demo.example"


class Command(BaseCommand):
    help = "Prepare an empty installation for a first look: an organization, two people, a key, and sample decisions."

    def handle(self, *args: Any, **options: Any) -> None:
        organization = Organization.objects.filter(slug=SLUG).first() or self._create()
        key = read_or_create(settings.DATA_DIR / "demo_api_key", b"")
        self.stdout.write(f"""
  Decision-Record Service at {settings.BASE_URL}

    API and its documentation  {settings.BASE_URL}/docs/
    Back office                {settings.BASE_URL}/admin/
    API key of {organization.name!r}        {key.decode()}
    Data                       {settings.DATA_DIR}

  To sign in: open {settings.BASE_URL}/sign-in/ and enter {OWNER} (or {OPERATOR}, who approves).
  The code is in the newest file of {settings.MAIL_DIR}

  A first request:
    curl -H "Authorization: Bearer {key.decode()}" "{settings.BASE_URL}/v1/decisions?action=denied"
""")

    def _create(self) -> Organization:
        if Organization.objects.exists():
            raise CommandError("This installation has organizations already; the demo is for an empty one.")
        organization = services.create_organization(
            name="Demo Lender", slug=SLUG, owner_email=OWNER, actor=audit.COMMAND_LINE
        )
        services.add_member(organization=organization, email=OPERATOR, role=Role.APPROVER, actor=audit.COMMAND_LINE)
        _, token = services.create_api_key(
            organization_id=organization.id, name="demo", role=Role.OWNER, actor=audit.COMMAND_LINE
        )
        # Shown again at every start of the demo; a real key is shown once and stored by whoever uses it.
        read_or_create(settings.DATA_DIR / "demo_api_key", token.encode())
        records = [*samples.mortgage_records(), *samples.synthetic_records()]
        statuses: Counter[str] = Counter()
        with progress("Taking custody of the sample decisions", len(records)) as advance:
            for line in ingest_lines(
                organization_id=organization.id, lines=records, source="samples", actor=audit.COMMAND_LINE
            ):
                statuses[line.status] += 1
                advance(1)
        if set(statuses) != {"created"}:
            raise CommandError(f"Not every sample was taken: {dict(statuses)}.")
        return organization
