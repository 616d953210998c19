"""Notices of the demo: one in every state, about the samples."""

from accounts import callers
from accounts.callers import Caller
from accounts.demo import OPERATOR
from accounts.models import Member, Organization
from accounts.selectors import caller
from config.progress import progress
from decisions.models import Decision
from decisions.samples import SAMPLES
from notices import selectors, services, warnings
from notices.models import Delivery, Notice
from notices.packs import packs
from notices.phrasebook_csv import read_table

MORTGAGE_NOTICES = 12
MORTGAGE_PACK = "us_ecoa_fcra"
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
    "external_review_contact": "Example Review Office, 6 Example Street, Example City, 1-800-555-0102",
    "consumer_assistance_contact": "Example Consumer Assistance, 1-800-555-0101",
    "privacy_rights_page": "https://demo.example/privacy",
}
ADDRESSEE = {"name": "Example Person", "address": ["2 Example Street", "Example City"]}
SUBMITTED, APPROVED, DELIVERED = "synthetic-insurance-03", "synthetic-hiring-01", "synthetic-benefits-02"


def draft_notices(organization: Organization) -> None:
    """Create notices in every state, drafted from the command line so that both demo users can approve them."""
    if Notice.objects.for_organization(organization).exists():
        return
    shell = callers.command_line(organization.id)
    _settle(shell)
    notices = _draft(organization, shell)
    services.submit(notice=notices[SUBMITTED], caller=shell)
    members = Member.objects.for_organization(organization).select_related("user")
    operator = caller(members.get(user__email=OPERATOR))
    for decision_id in (APPROVED, DELIVERED):
        _approve(notices[decision_id], operator)
    services.deliver(notice=notices[DELIVERED], channel=Delivery.Channel.POST, caller=shell, reference="EX-0001")


def _approve(notice: Notice, operator: Caller) -> None:
    """Approve a notice as an operator who acknowledges every warning."""
    revision, facts = selectors.current_revision(notice), selectors.facts_for(notice)
    seen = warnings.find(selectors.case_of(notice, facts), revision.content, revision.not_applicable)
    services.approve(
        notice=notice,
        caller=operator,
        revision=revision.number,
        authority="complaints officer",
        acknowledge=[warning.id for warning in seen],
    )


def _settle(shell: Caller) -> None:
    """Change the organization's settings and phrasebook.

    The default pack stays `general`, so that a client that names no pack can approve its own drafts.
    """
    services.change_settings(
        placeholders=PLACEHOLDERS,
        at_risk_days=7,
        caller=shell,
    )
    with open(SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        services.put_phrases(caller=shell, phrases=read_table(file))


def _draft(organization: Organization, shell: Caller) -> dict[str, Notice]:
    """Draft notices about a choice of decisions. Return them by the decision's id."""
    rows = Decision.objects.for_organization(organization).select_related("record", "organization")
    denied = rows.filter(action="denied", decision_id__startswith="boston").order_by("received_at", "decision_id")
    chosen = [*rows.filter(decision_id__in=PACKS).order_by("decision_id"), *denied[:MORTGAGE_NOTICES]]
    notices = {}
    with progress("Drafting notices", len(chosen)) as advance:
        for decision in chosen:
            notices[decision.decision_id] = services.draft(
                decision=decision,
                pack=packs()[PACKS.get(decision.decision_id, MORTGAGE_PACK)],
                recipient={**ADDRESSEE, "reference": decision.subject_reference},
                caller=shell,
            )
            advance(1)
    return notices
