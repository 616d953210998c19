"""Packs that fit a decision are offered first, and every other pack stays available."""

import json
from collections import Counter

import pytest

from accounts.roles import Role
from custody import vaults
from custody.models import object_key
from decisions import samples
from decisions.models import Decision
from notices import demo, fitting
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.conftest import RECORD, done
from tests.notices.test_review_requests import reconsider
from tests.support.unguarded import unguarded

SAMPLES = {json.loads(raw)["decision_id"]: raw for raw in samples.synthetic_records()}


def offer(**record) -> fitting.Offer:
    return fitting.offer(packs().values(), Facts(json.dumps(record).encode()).get)


def fitting_ids(jurisdiction=None, purpose=None, **record) -> list[str]:
    """Return the packs that fit, without the policy pack, which always does."""
    offered = [pack.id for pack in offer(
        subject={"jurisdiction": jurisdiction}, system={"purpose": purpose}, **record).fitting]  # fmt: skip
    assert offered.pop(offered.index("general")) == "general"
    return offered


@each_case(("decision_id", "pack"), demo.PACKS.items())
def test_the_pack_of_a_sample_fits_it(decision_id, pack):
    offered = fitting.offer(packs().values(), Facts(SAMPLES[decision_id]).get)
    assert pack in [candidate.id for candidate in offered.fitting]


@each_case("record", SAMPLES.values())
def test_every_pack_is_offered_once(record):
    offered = fitting.offer(packs().values(), Facts(record).get)
    assert Counter(pack.id for pack in (*offered.fitting, *offered.others)) == Counter(list(packs()))


@each_case(
    ("jurisdiction", "fits"),
    [
        ("DE", ["eu_ai_act_86", "eu_ccd2_18", "gdpr_22"]),
        ("de-by", ["eu_ai_act_86", "eu_ccd2_18", "gdpr_22"]),
        ("Deutschland", ["eu_ai_act_86", "eu_ccd2_18", "gdpr_22"]),
        ("EU", ["eu_ai_act_86", "eu_ccd2_18", "gdpr_22"]),
        ("NO", ["eu_ai_act_86", "eu_ccd2_18", "gdpr_22"]),
        ("UK", ["uk_gdpr_22c"]),
        (" united  kingdom ", ["uk_gdpr_22c"]),
        ("GB-SCT", ["uk_gdpr_22c"]),
        ("Québec", ["ca_qc_12_1"]),
        ("CA_QC", ["ca_qc_12_1"]),
        ("CA", ["ca_qc_12_1"]),
        ("CA-ON", []),
        ("US-NY", ["us_ecoa_fcra"]),
        ("California", ["us_ca_admt", "us_ecoa_fcra"]),
        ("US", ["us_ca_admt", "us_co_admt", "us_ecoa_fcra"]),
        ("BR", []),
    ],
)
def test_a_pack_fits_where_its_law_holds(jurisdiction, fits):
    assert sorted(fitting_ids(jurisdiction, "deciding on loans")) == fits


@each_case("jurisdiction", [None, "", 7, True, ["DE"], {"country": "DE"}, "Atlantis", "x" * 10_000, "\0"])
def test_where_the_jurisdiction_cannot_be_read_nothing_is_ruled_out(jurisdiction):
    assert len(fitting_ids(jurisdiction)) == len(packs()) - 1


@each_case(
    ("purpose", "credit", "health"),
    [
        ("deciding on personal loans", True, False),
        ("Mortgage pre-approval", True, False),
        ("prior authorization of imaging", False, True),
        ("prior_authorization", False, True),
        ("ranking candidates for a job", False, False),
        ("pricing motor insurance", False, False),
        ("deciding on credit to pay an insurance premium", True, False),
        ("blending calendars", True, True),
        (None, True, True),
        (["loan"], True, True),
    ],
)
def test_a_pack_fits_the_field_that_the_record_tells_and_any_where_it_tells_none(purpose, credit, health):
    offered = fitting_ids("US-TX", purpose)
    assert ("us_ecoa_fcra" in offered, "us_health_denial" in offered) == (credit, health)


def test_fields_are_known_in_german_and_french():
    assert "us_health_denial" not in fitting_ids("US", "Vergabe von Ratenkrediten")
    assert "us_ecoa_fcra" not in fitting_ids("US", "présélection pour des postes")
    assert "us_ecoa_fcra" in fitting_ids("US", "octroi de crédit à la consommation")


def test_the_closest_pack_comes_first_and_a_wish_that_fits_before_it():
    offered = offer(subject={"jurisdiction": "US-CA"}, system={"purpose": "prior authorization"})
    assert [pack.id for pack in offered.fitting] == [
        "us_health_denial",
        "us_medicaid",
        "us_part_d",
        "us_ca_admt",
        "general",
    ]
    assert offered.first_of("gdpr_22") == "us_health_denial"
    assert offered.first_of("us_ca_admt") == "us_ca_admt"


def test_every_pack_but_the_organizations_own_says_where_it_fits():
    """A pack without a table would be offered for every decision."""
    assert set(packs()) - set(fitting._table()["packs"]) == {"general"}


# ── on the pages of the back office ──


@pytest.fixture
def record_id(api) -> str:
    subject = {"jurisdiction": "DE"}
    return done(api.ingest({**RECORD, "subject": subject, "system": {"purpose": "Kreditvergabe"}}))["record_id"]


def options(browser, record_id) -> tuple[list[str], list[str], list[str]]:
    body = browser.get(f"/admin/decisions/decision/{record_id}/change/").content.decode()
    select = body.partition('<select id="pack-new"')[2].partition("</select>")[0]
    fit, _, others = select.partition('<optgroup label="Others">')
    values = [[part.partition('"')[0] for part in group.split('value="')[1:]] for group in (fit, others)]
    chosen = [part.rpartition('value="')[2].partition('"')[0] for part in select.split(" selected>")[:-1]]
    return values[0], values[1], chosen


def test_a_decision_s_page_offers_what_fits_first_and_chooses_it(record_id, signed_in):
    fit, others, chosen = options(signed_in(Role.EDITOR), record_id)
    assert (fit, chosen) == (["eu_ccd2_18", "eu_ai_act_86", "gdpr_22", "general"], ["general"])
    assert set(fit + others) == set(packs())


def test_a_reconsideration_fits_what_its_first_decision_fits(api, record_id, signed_in):
    reconsider(api)
    answer = Decision.objects.get(first=record_id)
    assert options(signed_in(Role.EDITOR), answer.pk)[0] == ["eu_ccd2_18", "eu_ai_act_86", "gdpr_22", "general"]


def test_a_pack_that_does_not_fit_can_be_chosen_all_the_same(record_id, signed_in):
    page, draft = f"/admin/decisions/decision/{record_id}/change/", f"/admin/notices/notice/draft/{record_id}/"
    assert signed_in(Role.EDITOR).submit(page, draft, pack="us_co_admt").status_code == 302
    assert Decision.objects.get().notices.get().pack == "us_co_admt"


def test_where_the_record_cannot_be_read_every_pack_fits(record_id, signed_in):
    row = Decision.objects.get()
    with unguarded():
        vaults.current().delete(object_key(row.organization_id, row.pk))
    assert sorted(options(signed_in(Role.EDITOR), record_id)[0]) == sorted(packs())
