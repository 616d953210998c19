"""Review, return and approval of a notice, and elements that do not apply to it."""

import json

import pytest

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from decisions import samples
from notices import services
from notices.errors import MissingReason
from notices.models import Approval, Notice
from tests.cases import each_case
from tests.notices.conftest import (
    approve,
    approve_acknowledged,
    done,
    drafted,
    edit,
    exempt,
    fill_in_names,
    ingest_sample,
    refused,
    shown,
    step,
    stored,
)

pytestmark = pytest.mark.django_db


# ── review and return ──


def test_a_draft_goes_to_review_once(api, notice):
    assert done(step(api, notice, "submit"))["state"] == "in_review"
    assert "in review" in refused(step(api, notice, "submit"))


def test_an_edit_in_review_makes_it_a_draft_again(api, notice):
    step(api, notice, "submit")
    assert done(edit(api, notice, title="New"))["state"] == "draft"
    assert shown(api, notice)["state"] == "draft"


@pytest.mark.parametrize("submitted", [True, False])
def test_a_draft_is_approved_in_review_or_without(api, notice, submitted):
    if submitted:
        step(api, notice, "submit")
    assert done(approve(api, notice))["state"] == "approved"


def test_requesting_changes_with_a_reason_makes_the_notice_a_draft(api, notice):
    step(api, notice, "submit")
    assert done(step(api, notice, "request-changes", {"reason": "Name the income.", "revision": 1}))["state"] == "draft"
    steps = shown(api, notice, "/history")["steps"]
    assert [(entry["kind"], entry["reason"], entry["revision"]) for entry in steps] == [
        ("submitted", "", 1),
        ("changes_requested", "Name the income.", 1),
    ]


def test_changes_can_be_requested_only_in_review(api, notice):
    assert "still a draft" in refused(step(api, notice, "request-changes", {"reason": "Name the income."}))
    assert shown(api, notice, "/history")["steps"] == []


@each_case("reason", ["", " \n", None])
def test_requesting_changes_needs_a_reason(api, notice, reason):
    step(api, notice, "submit")
    answer = step(api, notice, "request-changes", {"reason": reason})
    assert (answer.status_code, shown(api, notice)["state"]) == (422, "in_review")
    with pytest.raises(MissingReason):
        services.request_changes(
            caller=callers.system(api.organization.pk), notice=stored(api, notice), reason=reason or ""
        )


def test_requesting_changes_of_an_old_revision_is_refused(api, notice):
    edit(api, notice, title="New")
    step(api, notice, "submit")
    body = {"reason": "Name the income.", "revision": 1}
    assert "revision 2" in refused(step(api, notice, "request-changes", body))
    assert shown(api, notice)["state"] == "in_review"


@each_case("then", ["submit", "request-changes"])
def test_an_approved_notice_cannot_return_to_review(api, approved, then):
    assert "approved" in refused(step(api, approved, then, {"reason": "Too late."}))


# ── approval ──


def test_a_key_s_approval_is_recorded_as_its_claim(api, notice):
    approval = done(approve(api, notice))["approval"]
    assert (approval["approver"], approval["authority"]) == ("Reviewer 7", "credit officer")
    assert approval["basis"].startswith("asserted by key ")
    assert approval["verified"] is False


@each_case("left_out", ["approver", "authority"])
def test_a_key_has_to_name_approver_and_authority(api, notice, left_out):
    for blank in ("", "  "):
        assert "approver and authority" in refused(approve(api, notice, **{left_out: blank}))


@pytest.mark.parametrize(("name", "longest"), [("approver", 300), ("authority", 256)])
def test_a_claim_is_kept_whole_or_not_at_all(api, notice, name, longest):
    assert approve(api, notice, **{name: "x" * (longest + 1)}).status_code == 422
    assert done(approve(api, notice, **{name: "x" * longest}))["approval"][name] == "x" * longest


def test_an_old_revision_cannot_be_approved(api, notice):
    edit(api, notice, title="New")
    for old_or_none in (0, 1, 3, 10**30):
        assert "revision 2" in refused(approve(api, notice, revision=old_or_none))
    assert done(approve(api, notice, revision=2))["approval"]["revision"] == 2


def test_a_source_that_leads_nowhere_blocks_approval(api, notice):
    edit(api, notice, main_factors=[{"statement": "A reason.", "source": "outcome.nowhere"}])
    assert "outcome.nowhere" in refused(approve(api, notice))


def test_a_missing_legal_element_blocks_approval(api):
    decision_id = ingest_sample(api, "synthetic-insurance-04")
    assert "1002.9" in refused(approve(api, drafted(api, decision_id, pack="us_ecoa_fcra")))
    fill_in_names(api, "us_ecoa_fcra")
    assert done(approve(api, drafted(api, decision_id)))["state"] == "approved"


def test_a_changed_pack_blocks_approval_until_the_next_edit(api, notice):
    notice = drafted(api, pack="eu_ai_act_86")
    Notice.objects.update(pack_version="2020.1", pack_digest="0" * 64)  # as if written before an upgrade
    assert "from 2020.1 to" in refused(approve(api, notice))
    assert done(edit(api, notice))["pack_version"] == notice["pack_version"]
    assert done(approve_acknowledged(api, notice))["state"] == "approved"


def test_an_approved_notice_is_not_edited_nor_approved_again(api, approved):
    assert "new version" in refused(edit(api, approved, title="New"))
    assert "approved" in refused(approve(api, approved))
    assert Approval.objects.count() == 1


def test_a_withdrawn_notice_is_not_approved(api, notice):
    assert done(step(api, notice, "withdraw"))["state"] == "withdrawn"
    assert "withdrawn" in refused(approve(api, notice))


def test_each_step_is_in_the_audit_trail(api, notice):
    edit(api, notice, title="New")
    step(api, notice, "submit")
    approve(api, notice)
    step(api, notice, "deliveries", {"channel": "hand"})
    step(api, notice, "withdraw")
    verbs = list(AuditEvent.objects.filter(object_kind="notice").order_by("pk").values_list("verb", flat=True))
    assert verbs == [
        "notice.drafted",
        "notice.edited",
        "notice.submitted",
        "notice.approved",
        "notice.delivery_recorded",
        "notice.withdrawn",
    ]


# ── elements that do not apply ──


@pytest.fixture
def lacking(api) -> dict:
    """Return a draft under a law that needs reasons, about a record without any."""
    fill_in_names(api, "us_ecoa_fcra")
    raw = next(raw for raw in samples.mortgage_records() if b'"denied"' in raw)
    api.ingest(raw)
    draft = drafted(api, json.loads(raw)["decision_id"])
    (problem,) = draft["problems"]
    assert "1002.9(a)(2)(i)" in problem
    return draft


def element(checked: dict, name: str) -> dict:
    return next(item for item in checked["elements"] if item["id"] == name)


def test_a_waived_element_blocks_nothing_and_the_checklist_shows_the_reason(api, lacking, signed_in):
    assert "1002.9(a)(2)(i)" in refused(approve(api, lacking))
    edited = done(exempt(api, lacking, specific_reasons="The reasons went out on 3 May."))
    item = element(edited, "specific_reasons")
    assert (item["result"], item["reason"]) == ("not_applicable", "The reasons went out on 3 May.")
    assert edited["problems"] == []
    approver = signed_in(Role.APPROVER)
    assert "waived_element-" in refused(step(approver, lacking, "approve"))
    seen = {"acknowledge": [warning["id"] for warning in edited["warnings"]]}
    assert done(step(approver, lacking, "approve", seen))["state"] == "approved"


def test_a_waiver_lasts_until_it_is_withdrawn(api, lacking):
    exempt(api, lacking, specific_reasons="They went out before.")
    assert element(done(edit(api, lacking, title="New")), "specific_reasons")["result"] == "not_applicable"
    assert element(done(exempt(api, lacking)), "specific_reasons")["result"] == "missing"
    waived = [row["not_applicable"] for row in shown(api, lacking, "/history")["revisions"]]
    assert waived == [{}, *[{"specific_reasons": "They went out before."}] * 2, {}]


def test_an_unknown_element_is_refused_with_the_known_ones(api, lacking):
    answer = exempt(api, lacking, nowhere="No such thing.")
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["loc"]) == (422, ["body", "elements", "nowhere"])
    assert "specific_reasons" in problem["ctx"]["expected"]
    assert "No such thing" not in answer.content.decode()


@each_case("reason", ["", "  \n", None, "x" * 4001])
def test_a_waiver_needs_a_reason(api, lacking, reason):
    assert exempt(api, lacking, specific_reasons=reason).status_code == 422
    assert shown(api, lacking)["revision"] == 1
