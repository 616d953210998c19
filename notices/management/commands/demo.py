from collections import Counter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import audit, callers, services
from accounts.callers import Caller
from accounts.models import Member, Organization
from accounts.roles import Role
from accounts.selectors import caller
from config.progress import progress
from config.secret_files import read, read_or_create
from decisions import samples
from decisions.models import Decision
from decisions.services import ingest_lines
from notices import services as notices
from notices.models import Delivery, Notice
from notices.packs import packs
from notices.phrasebook import read_table

SLUG = "demo"
OWNER = "owner@demo.example"
OPERATOR = "operator@demo.example"
SOURCE = "samples"
MORTGAGE_NOTICES = 12
PACKS = {
    "synthetic-insurance-01": "gdpr_22",
    "synthetic-insurance-03": "gdpr_22",
    "synthetic-insurance-04": "us_ecoa_fcra",
    "synthetic-insurance-05": "ca_qc_12_1",
    "synthetic-hiring-01": "eu_ai_act_86",
    "synthetic-hiring-03": "us_ca_admt",
    "synthetic-hiring-04": "us_co_admt",
    "synthetic-benefits-02": "uk_gdpr_22c",
    "synthetic-prior-authorization-01": "us_health_denial",
}
PLACEHOLDERS = {
    "contact": "Demo Lender, Customer Relations, 1 Example Street, Example City, help@demo.example",
    "creditor_name": "Demo Lender",
    "creditor_address": "1 Example Street, Example City",
    "agency_name_and_address": "Consumer Financial Protection Bureau, 1700 G Street NW, Washington, DC 20552",
    "consumer_reporting_agency": "Example Consumer Reports Co., 100 Example Avenue, Example City, 1-800-555-0199",
    "appeal_address": "Appeals, 1 Example Street, Example City",
    "appeal_days": "180",
    "appeal_telephone": "1-800-555-0100",
    "consumer_assistance_contact": "Example Consumer Assistance, 1-800-555-0101",
    "privacy_rights_page": "https://demo.example/privacy",
}
ADDRESSEE = {"name": "Example Person", "address": ["2 Example Street", "Example City"]}
APPROVED, DELIVERED = "synthetic-hiring-01", "synthetic-benefits-02"


class Command(BaseCommand):
    help = (
        "Prepare an empty installation for a first look: an organization, two people, a key, sample decisions and "
        "notices. "
        "What is there already stays; an installation with other organizations is left alone."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        organization = Organization.objects.filter(slug=SLUG).first()
        if organization is None and Organization.objects.exists():
            self.stdout.write(f"\n  Decision-Record Service at {settings.BASE_URL}, with the organizations it has\n")
            return
        organization = organization or self._create()
        self._load(organization)
        self._draft(organization)
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
            caller = callers.command_line(organization.id)
            for line in ingest_lines(caller=caller, lines=records, source=SOURCE):
                statuses[line.status] += 1
                advance(1)
        if set(statuses) - {"created", "replayed"}:
            raise CommandError(f"Not every sample was taken: {dict(statuses)}.")

    def _draft(self, organization: Organization) -> None:
        """Notices in every state, drafted by nobody in particular so that both people can approve them."""
        if Notice.objects.filter(organization=organization).exists():
            return
        shell = Caller(organization.id, Role.OWNER, audit.COMMAND_LINE)
        operator = caller(Member.objects.select_related("user").get(organization=organization, user__email=OPERATOR))
        notices.change_settings(
            default_pack="us_ecoa_fcra",
            placeholders=PLACEHOLDERS,
            require_grants=False,
            at_risk_days=7,
            caller=shell,
        )
        with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
            notices.put_phrases(organization_id=organization.id, phrases=read_table(file), actor=audit.COMMAND_LINE)
        rows = Decision.objects.filter(organization=organization).select_related("record", "organization")
        denied = rows.filter(action="denied", decision_id__startswith="boston").order_by("received_at", "decision_id")
        chosen = [*rows.filter(decision_id__in=PACKS).order_by("decision_id"), *denied[:MORTGAGE_NOTICES]]
        made = {}
        with progress("Drafting notices", len(chosen)) as advance:
            for decision in chosen:
                pack = packs()[PACKS.get(decision.decision_id, "us_ecoa_fcra")]
                made[decision.decision_id] = notices.draft(
                    decision=decision,
                    pack=pack,
                    recipient={**ADDRESSEE, "reference": decision.subject_reference},
                    caller=shell,
                )
                advance(1)
        notices.submit(notice=made["synthetic-insurance-03"], caller=shell)
        for decision_id in (APPROVED, DELIVERED):
            notice = made[decision_id]
            notices.approve(notice=notice, caller=operator, revision=1, authority="complaints officer")
        notices.deliver(notice=made[DELIVERED], channel=Delivery.Channel.POST, caller=shell, reference="EX-0001")

    def _key(self, organization: Organization) -> str:
        """The demo's key, kept in a file so that every start can show it; a real key is shown once, to its user."""
        path = settings.DATA_DIR / "demo_api_key"
        if path.exists():
            return read(path).decode()
        _, token = services.create_api_key(caller=callers.command_line(organization.id), name="demo", role=Role.OWNER)
        return read_or_create(path, token.encode()).decode()
