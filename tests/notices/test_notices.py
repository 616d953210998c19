"""The life of a notice: drafted from the record, edited, approved by somebody else, sealed with proofs."""

import base64
import json

import pytest

from accounts import audit, services
from accounts.models import AuditEvent
from accounts.roles import Role
from custody import selectors as custody
from custody.fields import Disclosure
from custody.models import Entry
from decisions import samples
from decisions.models import Decision
from notices.models import Notice
from notices.services import seal_approved
from tests.conftest import Api

pytestmark = pytest.mark.django_db

FITTING = {
    "synthetic-insurance-03": "gdpr_22",
    "synthetic-insurance-04": "us_ecoa_fcra",
    "synthetic-insurance-05": "ca_qc_12_1",
    "synthetic-hiring-01": "eu_ai_act_86",
    "synthetic-hiring-04": "us_co_admt",
    "synthetic-benefits-02": "uk_gdpr_22c",
    "synthetic-prior-authorization-01": "us_health_denial",
}
STATEMENTS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
RECORD = {
    "decision_id": "loan-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "events": {"application": {"loan_to_value": 0.92, "self_employed": False}},
    "outcome": {"action": "denied", "reasons": ["The loan is larger than the limit of 90 % of the value."]},
}
CLAIM = {"approver": "Reviewer 7", "authority": "credit officer"}


def send(api: Api, method: str, path: str, body: dict | None = None):
    call = getattr(api.client, method)
    return call(path, json.dumps(body or {}), content_type="application/json")


def drafted(api: Api, decision_id: str = "loan-1", **body) -> dict:
    answer = send(api, "post", f"/v1/decisions/{decision_id}/notices", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def notice(api) -> dict:
    """A draft under the organization's own policy."""
    assert api.ingest(RECORD).status_code == 201
    return drafted(api)


# ── drafting ──


@pytest.mark.parametrize("decision_id", sorted(FITTING))
def test_every_statement_is_one_sentence_whose_source_resolves(api, decision_id):
    raw = next(raw for raw in samples.synthetic_records() if json.loads(raw)["decision_id"] == decision_id)
    api.ingest(raw)
    shown = drafted(api, decision_id, pack=FITTING[decision_id])
    assert shown["citations"]
    assert all(citation["resolves"] for citation in shown["citations"])
    told = [item["statement"] for name in STATEMENTS for item in shown["content"][name]]
    assert all(line[0].isupper() or not line[0].isalpha() for line in told)
    assert all(line.endswith((".", "!", "?", "…")) and "\n" not in line for line in told)


def test_a_denial_without_reasons_says_none_and_the_checklist_says_so(api):
    raw = next(raw for raw in samples.mortgage_records() if b'"denied"' in raw)
    api.ingest(raw)
    shown = drafted(api, json.loads(raw)["decision_id"], pack="us_ecoa_fcra")
    assert shown["content"]["main_factors"] == []
    missing = {
        element["where"] for element in shown["elements"] if element["result"] == "missing" and element["blocks"]
    }
    assert "main_factors" in missing


def test_the_same_record_gives_the_same_draft(api, notice):
    assert drafted(api)["content"] == notice["content"]


def test_an_unknown_pack_is_named_with_the_allowed_ones(api):
    api.ingest(RECORD)
    answer = send(api, "post", "/v1/decisions/loan-1/notices", {"pack": "nowhere"})
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, "literal_error", ["body", "pack"])
    assert "us_ecoa_fcra" in problem["ctx"]["expected"]


def test_the_recipients_language_is_used_where_the_pack_has_it(api):
    api.ingest(RECORD)
    german = drafted(api, recipient={"language": "de-AT"})
    assert german["language"] == "de"
    assert {"statement": "Sie wurde am 2. November 2026 getroffen.", "source": "decided_at"} in german["content"][
        "decision_summary"
    ]
    assert drafted(api, recipient={"language": "ja"})["language"] == "en"


def test_the_phrasebook_s_words_come_first_and_withheld_fields_are_not_printed(api, organization, tmp_path):
    from django.core.management import call_command

    table = tmp_path / "phrases.csv"
    table.write_text(
        "language,key,sentence,label,withheld,owner,approved_version\n"
        "en,loan_to_value,You asked for {value} of what the house is worth,,no,credit,3\n"
        "en,self_employed,,,yes,credit,3\n"
    )
    call_command("import_phrasebook", str(table), organization=organization.slug)
    api.ingest(RECORD)
    inputs = drafted(api)["content"]["inputs_used"]
    assert inputs == [
        {
            "statement": "You asked for 0.92 of what the house is worth.",
            "source": "events.application.loan_to_value",
        }
    ]


def test_recipients_and_texts_are_not_echoed_in_errors(api, notice):
    answer = send(api, "post", "/v1/decisions/loan-1/notices", {"recipient": "Canary Street 5"})
    assert answer.status_code == 422
    assert b"Canary" not in answer.content


# ── editing ──


def test_an_edit_replaces_the_properties_supplied_and_makes_a_revision(api, notice):
    content = {"title": "About your loan", "main_factors": [{"statement": "A reason.", "source": "outcome.nowhere"}]}
    edited = send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": content}).json()
    assert (edited["revision"], edited["content"]["title"]) == (2, "About your loan")
    assert edited["content"]["decision_summary"] == notice["content"]["decision_summary"]
    (unresolved,) = [citation for citation in edited["citations"] if not citation["resolves"]]
    assert unresolved["source"] == "outcome.nowhere"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"title": 5}, ["title"]),
        ({"rights": "all of them"}, ["rights"]),
        ({"main_factors": [{"statement": "No source."}]}, ["main_factors", 0, "source"]),
        ({"human_review_available": "yes"}, ["human_review_available"]),
        ({"language": "de"}, ["language"]),
    ],
)
def test_content_of_the_wrong_type_is_refused(api, notice, content, where):
    answer = send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": content})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "content", *where]
    assert api.get(f"/v1/notices/{notice['notice_id']}").json()["revision"] == 1


# ── approval ──


def approve(api: Api, notice: dict, **body):
    return send(api, "post", f"/v1/notices/{notice['notice_id']}/approve", CLAIM | body)


def test_a_key_s_approval_is_recorded_as_its_claim(api, notice):
    shown = approve(api, notice).json()
    assert shown["state"] == "approved"
    assert shown["approval"]["approver"] == "Reviewer 7"
    assert shown["approval"]["basis"].startswith("asserted by key ")


@pytest.mark.parametrize("left_out", ["approver", "authority"])
def test_a_key_has_to_name_approver_and_authority(api, notice, left_out):
    assert approve(api, notice, **{left_out: ""}).status_code == 409


def test_an_old_revision_cannot_be_approved(api, notice):
    send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": {"title": "New"}})
    assert approve(api, notice, revision=1).status_code == 409
    assert approve(api, notice, revision=2).status_code == 200


def test_a_source_that_leads_nowhere_blocks_approval(api, notice):
    content = {"main_factors": [{"statement": "A reason.", "source": "outcome.nowhere"}]}
    send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": content})
    answer = approve(api, notice)
    assert answer.status_code == 409
    assert "outcome.nowhere" in answer.json()["detail"]


def test_what_the_law_asks_for_blocks_approval_until_it_is_there(api):
    raw = next(raw for raw in samples.synthetic_records() if b'"synthetic-insurance-04"' in raw)
    api.ingest(raw)
    refused = approve(api, drafted(api, "synthetic-insurance-04", pack="us_ecoa_fcra"))
    assert refused.status_code == 409
    assert "1002.9" in refused.json()["detail"]
    names = next(p for p in api.get("/v1/packs").json()["items"] if p["pack"] == "us_ecoa_fcra")["placeholders"]
    filled = dict.fromkeys(names, "Example Credit Inc., 1 Example Street")
    send(api, "put", "/v1/notice-settings", {"default_pack": "us_ecoa_fcra", "placeholders": filled})
    approved = approve(api, drafted(api, "synthetic-insurance-04"))
    assert approved.status_code == 200, approved.content


def test_an_approved_notice_is_not_edited_nor_approved_again(api, notice):
    approve(api, notice)
    edited = send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": {"title": "New"}})
    assert (edited.status_code, approve(api, notice).status_code) == (409, 409)


def test_a_withdrawn_notice_is_not_approved(api, notice):
    assert send(api, "post", f"/v1/notices/{notice['notice_id']}/withdraw").json()["state"] == "withdrawn"
    assert approve(api, notice).status_code == 409


def test_nobody_approves_what_they_wrote_by_session_or_by_a_key_in_their_name(api, organization, notice):
    from accounts.callers import Caller
    from notices import selectors
    from notices import services as notices

    member = services.add_member(
        organization=organization, email="writer@bank.example", role=Role.OWNER, actor=audit.SYSTEM
    )
    writer = Caller(
        organization.id, Role.OWNER, audit.Actor("member", str(member.user_id), member.user.email), member.pk
    )
    found = selectors.notice(organization.id, notice["notice_id"])
    notices.edit(notice=found, changes={"title": "Mine"}, caller=writer)
    with pytest.raises(notices.Refused):
        notices.approve(notice=found, pack=selectors.pack_of(found), caller=writer)
    assert approve(api, notice, approver="Writer@bank.example").status_code == 409
    shell = Caller(organization.id, Role.OWNER, audit.COMMAND_LINE)
    with pytest.raises(notices.Refused):
        notices.approve(
            notice=found, pack=selectors.pack_of(found), caller=shell, approver="writer@bank.example", authority="any"
        )
    assert Notice.objects.get().state == "draft"


def test_each_step_is_in_the_audit_trail(api, notice):
    send(api, "patch", f"/v1/notices/{notice['notice_id']}", {"content": {"title": "New"}})
    approve(api, notice)
    verbs = list(AuditEvent.objects.filter(object_kind="notice").order_by("pk").values_list("verb", flat=True))
    assert verbs == ["notice.drafted", "notice.edited", "notice.approved"]


# ── custody ──


def test_an_approved_notice_is_sealed_with_a_proof_of_every_field_it_cites(api, notice, each_vault):
    shown = approve(api, notice).json()
    entry = Entry.objects.get(pk=shown["custody_record_id"])
    assert entry.kind == "notice"
    sealed = json.loads(custody.opened(entry).payload)
    assert sealed["content"] == shown["content"]
    decision = Decision.objects.select_related("record").get()
    fields = json.loads(bytes(decision.record.statement))["predicate"]["fields"]
    assert {proof["path"] for proof in sealed["field_proofs"]} == {c["source"] for c in shown["citations"]}
    for proof in sealed["field_proofs"]:
        disclosed = Disclosure(
            (proof["path"], proof["scalar"]),
            bytes.fromhex(proof["salt"]),
            proof["index"],
            tuple(bytes.fromhex(node) for node in proof["audit_path"]),
        )
        assert disclosed.verifies(root=bytes.fromhex(fields["root"]), count=fields["count"])


def test_its_statement_builds_on_the_decision_s(api, notice):
    import hashlib

    receipt = api.get("/v1/decisions/loan-1/receipt").json()
    shown = approve(api, notice).json()
    statement = json.loads(bytes(Entry.objects.get(pk=shown["custody_record_id"]).statement))
    parent = hashlib.sha256(base64.b64decode(receipt["envelope"]["payload"])).hexdigest()
    assert statement["predicate"]["parents"] == [parent]


def test_a_crash_between_approval_and_custody_is_made_good(api, notice, monkeypatch):
    monkeypatch.setattr("notices.services.seal_approved", lambda **_: 0)
    assert approve(api, notice).json()["custody_record_id"] is None
    monkeypatch.undo()
    assert (seal_approved(), seal_approved()) == (1, 0)
    assert api.get(f"/v1/notices/{notice['notice_id']}").json()["custody_record_id"]


def test_lists_filter_and_other_organizations_see_nothing(api, other_api, notice):
    assert [n["notice_id"] for n in api.get("/v1/notices", state="draft").json()["items"]] == [notice["notice_id"]]
    assert api.get("/v1/notices", state="approved").json()["items"] == []
    assert other_api.get("/v1/notices").json()["items"] == []
    assert other_api.get(f"/v1/notices/{notice['notice_id']}").status_code == 404
    assert send(other_api, "post", "/v1/decisions/loan-1/notices").status_code == 404
