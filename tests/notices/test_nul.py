"""U+0000 in a record is a character like any other. It is kept byte for byte: columns, sentences and pages, which
cannot hold it, leave it out, and paths spell it.
"""

import json

import pytest

from accounts.roles import Role
from custody.sealing import fields
from decisions.models import Decision
from notices.models import NoticeRevision, Phrase
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, edit, fill_in_names, send, shown
from tests.notices.drafts import EVERY, statement_texts, statements
from tests.notices.drafts import drafted as content_of
from tests.notices.test_back_office import page
from tests.reconsiderations.conftest import reconsider

pytestmark = pytest.mark.django_db

NUL = "\x00"
RECORD = {
    "decision_id": "loan-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "subject": {"reference": f"application{NUL} 7", "language": f"en{NUL}"},
    "system": {"name": f"{NUL}Score{NUL}card", "version": NUL},
    "events": [
        {"name": f"appli{NUL}cation", f"in{NUL}come": f"31{NUL}000", "list": [NUL, f"{NUL}x", {NUL: NUL}]},
        {"name": NUL, NUL: {f"deep{NUL}": 1}},
    ],
    "outcome": {
        "action": f"den{NUL}ied",
        "amount_eur": NUL,
        "reasons": [f"The loan is{NUL} too large.", {"code": f"R{NUL}1", "text": f"{NUL}Income."}, NUL],
        "principal_factors": [{"factor": f"debt{NUL}s", "path": 'events.0."in\\u0000come"', "direction": NUL}],
        "appeal": {"days": f"3{NUL}0"},
        "agency": f"Agen{NUL}cy",
    },
    "approval": {"authority": f"credit{NUL} officer", "human_involvement": NUL},
    f"other{NUL}": {NUL: NUL},
}
RAW = json.dumps(RECORD).encode()


@pytest.fixture
def stored(api) -> None:
    assert api.ingest(RAW).status_code == 201


def test_a_record_is_kept_byte_for_byte_and_sending_it_again_is_a_replay(api, each_vault):
    assert api.ingest(RAW).status_code == 201
    assert api.get("/v1/decisions/loan-1/record").content == RAW
    assert api.ingest(RAW).status_code == 200
    assert api.ingest(json.dumps(RECORD, ensure_ascii=False, indent=1).encode()).status_code == 200
    assert api.ingest(RAW.replace(b"den\\u0000ied", b"denied")).status_code == 409
    assert api.ingest(RAW.replace(b"den\\u0000ied", b"den\\\\u0000ied")).status_code == 409


def test_index_columns_leave_nul_out(api, stored):
    shown = api.get("/v1/decisions/loan-1").json()
    assert (shown["action"], shown["subject"]["reference"]) == ("denied", "application 7")
    assert shown["system"] == {"name": "Scorecard", "version": None}
    assert [row["decision_id"] for row in api.get("/v1/decisions", action="denied").json()["items"]] == ["loan-1"]
    assert Decision.objects.get().system_version == ""


@pytest.mark.once
def test_paths_escape_nul(api):
    paths = [path for path, _ in fields.leaves(RAW)]
    assert 'events.0."in\\u0000come"' in paths
    assert not any(NUL in path for path in paths)


def test_a_batch_line_with_nul_is_accepted(api):
    answer = api.client.post("/v1/ingest/srf/batch", RAW, content_type="application/x-ndjson")
    assert json.loads(answer.getvalue())["status"] == "created"


@pytest.mark.parametrize("decision_id", [NUL, f"loan{NUL}", f"{NUL}1"])
def test_only_an_id_cannot_contain_nul(api, decision_id):
    answer = api.ingest({"decision_id": decision_id})
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["type"], problem["loc"]) == ("value_error", ["body", "decision_id"])
    assert "NUL" in problem["msg"]
    assert not Decision.objects.exists()


@each_case("pack", sorted({pack for pack, _ in EVERY}))
def test_no_sentence_of_any_draft_has_nul_and_every_source_resolves(pack):
    content = content_of(RAW, pack)
    assert not any(NUL in line for line in statement_texts(content))
    facts = Facts(RAW)
    assert [facts.find(statement["source"]).path for statement in statements(content)]


@pytest.mark.once
def test_a_notice_about_a_record_with_nul_is_drafted_edited_and_read(api, stored):
    fill_in_names(api, "gdpr_22")
    notice = drafted(api, pack="gdpr_22")
    assert NUL not in json.dumps(notice["content"], ensure_ascii=False)
    assert [citation["resolves"] for citation in notice["citations"]] == [True] * len(notice["citations"])
    edited = done(edit(api, notice, main_factors=[{"statement": "It.", "source": 'events.1."\\u0000"."deep\\u0000"'}]))
    assert edited["citations"][-1]["resolves"]
    assert not any(citation["changed"] for citation in shown(api, notice)["citations"])
    assert NUL not in json.dumps([row.cited for row in NoticeRevision.objects.all()], ensure_ascii=False)


@pytest.mark.once
def test_sentences_leave_nul_out(api, stored):
    content = drafted(api)["content"]
    texts = [
        item["statement"] for name in ("decision_summary", "main_factors", "inputs_used") for item in content[name]
    ]
    assert "The loan is too large." in texts
    assert not any(NUL in one or "\\u0000" in one for one in texts)


@pytest.mark.once
def test_a_letter_about_a_record_with_nul_is_approved_and_given_out_in_every_form(api, stored):
    notice = drafted(api)
    assert done(approve(api, notice))["custody_record_id"]
    for form in ("html", "text", "proof", "pdf"):
        answer = api.get(f"/v1/notices/{notice['notice_id']}/letter", format=form)
        assert answer.status_code == 200
        assert NUL.encode() not in answer.content or form == "pdf"
    proof = json.loads(api.get(f"/v1/notices/{notice['notice_id']}/letter", format="proof").content)
    assert "\\u0000" in "".join(field["scalar"] for field in proof["field_proofs"])


def test_a_phrase_for_a_name_with_nul_is_found_by_path(api, organization, stored):
    key = 'events.1."\\u0000"."deep\\u0000"'
    Phrase.objects.create(organization=organization, language="en", key=key, label="Depth")
    (sentence,) = [item["statement"] for item in drafted(api)["content"]["inputs_used"] if item["source"] == key]
    assert sentence.startswith("Depth")


def test_pages_replace_nul_or_leave_it_out(api, signed_in, stored):
    notice = drafted(api)
    done(edit(api, notice, main_factors=[{"statement": "It.", "source": "system.name"}]))
    editor = signed_in(Role.EDITOR)
    record_id = api.get("/v1/decisions/loan-1").json()["record_id"]
    pages = [f"/admin/decisions/decision/{record_id}/change/", "/admin/decisions/decision/"]
    pages += [page(notice, name) for name in ("notices_notice_change", "edit-notice", "compare-notice")]
    for address in pages:
        answer = editor.get(address)
        assert answer.status_code == 200
        assert NUL.encode() not in answer.content
    assert "␀Score␀card" in editor.get(pages[0]).content.decode()


def test_a_review_of_a_decision_with_nul_is_recorded(api, stored):
    recorded = reconsider(api)
    assert recorded.status_code == 201, recorded.content
    done(send(api, "POST", f"decisions/{recorded.json()['decision_id']}/notices", {}))


@pytest.mark.once
@pytest.mark.parametrize("field", ["rationale", "requested_by", "reviewer", "outcome", "new_action"])
def test_input_about_a_decision_cannot_contain_nul(api, stored, field):
    answer = reconsider(api, **{field: f"text{NUL}"})
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["type"], problem["loc"]) == ("json_invalid", ["body", field])
    assert "NUL" in problem["msg"]
