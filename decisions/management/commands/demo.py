from collections import Counter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import audit, services
from accounts.models import Organization
from accounts.roles import Role
from config.progress import progress
from config.secret_files import read, read_or_create
from decisions import samples
from decisions.models import Decision
from decisions.services import ingest_lines

SLUG = "demo"
OWNER = "owner@demo.example"
OPERATOR = "operator@demo.example"
SOURCE = "samples"


class Command(BaseCommand):
    help = (
        "Prepare an empty installation for a first look: an organization, two people, a key, and sample decisions. "
        "What is there already stays; an installation with other organizations is left alone."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        organization = Organization.objects.filter(slug=SLUG).first()
        if organization is None and Organization.objects.exists():
            self.stdout.write(f"\n  Decision-Record Service at {settings.BASE_URL}, with the organizations it has\n")
            return
        organization = organization or self._create()
        self._load(organization)
        key = self._key(organization)
        self.stdout.write(f"""
  Decision-Record Service at {settings.BASE_URL}

    API and its documentation  {settings.BASE_URL}/docs/
    Back office                {settings.BASE_URL}/admin/
    API key of {organization.name}     {key}
    Data                       {settings.DATA_DIR}

  To sign in: open {settings.BASE_URL}/sign-in/ and enter {OWNER} (or {OPERATOR}, who approves).
  The code is in the newest file of {settings.MAIL_DIR}

  A first request:
    curl -H "Authorization: Bearer {key}" "{settings.BASE_URL}/v1/decisions?action=denied"
""")

    def _create(self) -> Organization:
        organization = services.create_organization(
            name="Demo Lender", slug=SLUG, owner_email=OWNER, actor=audit.COMMAND_LINE
        )
        services.add_member(organization=organization, email=OPERATOR, role=Role.APPROVER, actor=audit.COMMAND_LINE)
        return organization

    def _load(self, organization: Organization) -> None:
        """Take the samples, unless they are there. Replaying them is harmless, so a run that was cut off goes on."""
        records = [*samples.mortgage_records(), *samples.synthetic_records()]
        if Decision.objects.filter(organization=organization, source=SOURCE).count() == len(records):
            return
        statuses: Counter[str] = Counter()
        with progress("Taking custody of the sample decisions", len(records)) as advance:
            for line in ingest_lines(
                organization_id=organization.id, lines=records, source=SOURCE, actor=audit.COMMAND_LINE
            ):
                statuses[line.status] += 1
                advance(1)
        if set(statuses) - {"created", "replayed"}:
            raise CommandError(f"Not every sample was taken: {dict(statuses)}.")

    def _key(self, organization: Organization) -> str:
        """The demo's key, kept in a file so that every start can show it; a real key is shown once, to its user."""
        path = settings.DATA_DIR / "demo_api_key"
        if path.exists():
            return read(path).decode()
        _, token = services.create_api_key(
            organization_id=organization.id, name="demo", role=Role.OWNER, actor=audit.COMMAND_LINE
        )
        return read_or_create(path, token.encode()).decode()
