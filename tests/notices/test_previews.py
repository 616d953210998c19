"""A preview shows the notice that a record would get, and stores nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts import callers
from accounts.roles import Role
from custody.keys import keyrings
from custody.models import Key
from decisions import samples
from notices import checklist, services
from notices.content_limits import MAX_STATEMENTS
from notices.models import Notice, Phrase
from notices.packs import packs
from notices.previews import Sender, preview
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.conftest import RECORD, done, drafted, fill_in_names, send, shown
from tests.notices.drafts import EVERY
from tests.support.everything_kept import snapshot
from tests.support.unguarded import unguarded

MARK = "canary-9Qv2"
PRIVATE = {
    **RECORD,
    "subject": {"reference": MARK},
    "events": {"application": {"note": MARK, "ratio": 0.5}},
}
RECIPIENT = {"name": f"{MARK} Person", "address": f"{MARK} Street", "email": f"{MARK}@home.example", "weight": 1.5}
AS_A_NOTICE = ("content", "pack", "pack_version", "language", "elements", "citations", "problems", "warnings")
SAMPLES = [json.loads(raw) for raw in samples.synthetic_records()]


def asked(api: Any, record: Any = RECORD, **more: Any) -> Any:
    return send(api, "POST", "notices/preview", {"record": record, **more})


def problem(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 422, answer.content
    (detail,) = answer.json()["detail"]
    return detail


# ── nothing is stored ──


@pytest.mark.django_db
def test_nothing_is_kept_no_key_is_made_and_nothing_is_logged(api, capfd):
    with unguarded():
        Key.objects.for_organization(api.organization).delete()
    keyrings.forget()
    done(asked(api))  # makes what is made once for all callers
    before = snapshot()
    answer = done(asked(api, PRIVATE, recipient=RECIPIENT, format="html"))
    assert MARK in answer["letter"], "the search would not find what is there"
    assert snapshot() == before
    assert not Key.objects.for_organization(api.organization).exists()
    assert MARK not in "".join(capfd.readouterr())


@pytest.mark.django_db
def test_a_preview_of_a_record_in_custody_leaves_it_and_its_notices_as_they_are(api):
    done(api.ingest(RECORD))
    drafted(api)
    before = snapshot()
    assert done(asked(api, {**RECORD, "outcome": {"action": "approved"}}))["content"]
    assert snapshot() == before


# ── a preview equals the draft ──


@pytest.mark.django_db
@pytest.mark.parametrize(("record", "pack"), list(zip(SAMPLES, sorted(packs()), strict=False))[::2])
def test_a_preview_equals_a_draft_of_the_record(api, record, pack):
    fill_in_names(api, pack)
    done(api.ingest(record))
    notice = drafted(api, record["decision_id"], recipient=RECIPIENT)
    answer = done(asked(api, record, recipient=RECIPIENT))
    assert {name: answer[name] for name in AS_A_NOTICE} == {name: notice[name] for name in AS_A_NOTICE}
    assert answer["readability"] == notice["readability"]
    assert [due["due_at"] for due in answer["deadlines"]] == [due["due_at"] for due in notice["deadlines"]]
    assert answer["fault"] is None
    letter = api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text").content.decode()
    assert answer["letter"] == "".join(line for line in letter.splitlines(True) if notice["notice_id"] not in line)


@pytest.mark.django_db
def test_a_preview_has_a_notice_s_properties_except_those_of_a_stored_one(api):
    done(api.ingest(RECORD))
    notice = drafted(api)
    counts = {
        "notice_id", "state", "due_at", "holder", "supersedes", "created_at", "created_by", "recipient", "revision",
        "approval", "delivered_at", "answers", "custody_record_id", "letter_digest", "public_address",
    }  # fmt: skip
    assert set(done(asked(api))) == (set(notice) - counts) | {"letter", "format"}


@pytest.mark.django_db
def test_a_number_is_read_to_its_last_digit_and_a_text_with_nul(api):
    record = b'{"decision_id": "a", "events": {"check": {"ratio": 0.123456789012345678901, "note": "a\\u0000b"}}}'
    answer = api.post("/v1/notices/preview", b'{"record": %s}' % record)
    values = {citation["source"]: citation["value"] for citation in done(answer)["citations"]}
    assert values["events.check.ratio"] == "0.123456789012345678901"


@pytest.mark.django_db
def test_a_reconsideration_is_previewed_as_one(api):
    record = {
        "decision_id": "reconsideration-1",
        "reconsiders": {"decision_id": "loan-1"},
        "requested_by": "the applicant",
        "outcome": {"result": "overturned", "action": "approved"},
        "approval": {"approver": "desk 4", "authority": "credit officer"},
    }
    sources = [item["source"] for item in done(asked(api, record))["content"]["decision_summary"]]
    assert sources[:3] == ["reconsiders.decision_id", "outcome.result", "outcome.action"]


@pytest.mark.django_db
def test_phrases_and_settings_are_those_of_the_caller_s_organization_alone(api, other_api):
    fill_in_names(api, "us_ecoa_fcra")
    phrase = Phrase(language="en", key="loan_to_value", label="Share of the loan in the value")
    services.put_phrases(caller=callers.system(api.organization.pk), phrases=[phrase])
    own, other = done(asked(api)), done(asked(other_api, pack="us_ecoa_fcra"))
    assert own["pack"] == "us_ecoa_fcra"
    assert "Share of the loan" in own["letter"]
    assert "Share of the loan" not in other["letter"]
    assert "Example Credit Inc." in own["letter"]
    assert "Example Credit Inc." not in other["letter"]
    assert any("fill that in" in sentence for sentence in other["problems"])


@pytest.mark.django_db
@each_case(("wish", "language"), [("de", "de"), ("de-AT", "de"), (None, "fr"), ("", "fr")])
def test_the_language_is_the_requested_one_or_the_person_s(api, wish, language):
    record = {**RECORD, "subject": {"language": "fr"}}
    assert done(asked(api, record, pack="gdpr_22", language=wish))["language"] == language


@each_case(("pack", "language"), EVERY)
def test_without_a_database_a_record_a_pack_and_a_language_are_enough(pack, language):
    now = datetime(2026, 11, 20, tzinfo=UTC)
    first, second = (preview(facts(), packs()[pack], Sender("Bank", {}), language=language, now=now) for _ in range(2))
    assert first.language == language
    assert checklist.problems(first.case, first) == checklist.problems(second.case, second)
    assert (first.content, first.letter) == (second.content, second.letter)


def facts() -> Facts:
    return Facts(json.dumps(RECORD).encode())


# ── refusals ──


@pytest.mark.django_db
@each_case(
    ("body", "loc", "kind"),
    [
        (b"{}", ["record"], "missing"),
        (b'{"record": {}}', ["record", "decision_id"], "missing"),
        (b'{"record": {"decision_id": ""}}', ["record", "decision_id"], "string_too_short"),
        (b'{"record": {"decision_id": "a\\u0000"}}', ["record", "decision_id"], "value_error"),
        (b'{"record": "canary-9Qv2"}', ["record"], "dict_type"),
        (b'{"record": [{"decision_id": "a"}]}', ["record"], "dict_type"),
        (b'{"record": {"decision_id": "a", "x": {"y": [1, 1e999]}}}', ["record", "x", "y", 1], "json_invalid"),
        (b'{"record": {"decision_id": "a", "x": {"y": 1, "y": 2}}}', ["record", "x", "y"], "json_invalid"),
        (b'{"record": {"decision_id": "a"}, "recipient": {"canary-9Qv2": 1, "canary-9Qv2": 2}}',
         ["recipient"], "json_invalid"),
        (b'{"record": {"decision_id": "a"}, "recipient": "canary-9Qv2"}', ["recipient"], "dict_type"),
        (b'{"record": {"decision_id": "a"}, "pack": "nowhere"}', ["pack"], "literal_error"),
        (b'{"record": {"decision_id": "a"}, "pack": "us_ecoa_fcra", "language": "xx"}', ["language"], "literal_error"),
        (b'{"record": {"decision_id": "a"}, "format": "pdf"}', ["format"], "literal_error"),
        (b'{"record": {"decision_id": "a"}, "language": 1.5}', ["language"], "string_type"),
        (b"no JSON", [0], "json_invalid"),
    ],
)  # fmt: skip
def test_an_error_names_the_place_and_does_not_repeat_the_value(api, body, loc, kind):
    detail = problem(api.post("/v1/notices/preview", body))
    assert (detail["loc"], detail["type"]) == (["body", *loc], kind)
    assert MARK not in json.dumps(detail)


@pytest.mark.django_db
def test_the_limits_are_those_of_ingest_and_of_drafting(api):
    assert asked(api, {"decision_id": "a", "x": "x" * 2**20}).status_code == 413
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    assert problem(asked(api, {"decision_id": "a", "x": deep}))["type"] == "json_invalid"
    long_paths = {"decision_id": "a", "events": {"k" * 200_000: {str(n): n for n in range(100)}}}
    assert problem(asked(api, long_paths))["loc"] == ["body", "record"]
    many = {"decision_id": "a", "outcome": {"reasons": [f"Reason {n}" for n in range(MAX_STATEMENTS + 1)]}}
    assert asked(api, many).status_code == 413


@pytest.mark.django_db
def test_a_key_that_only_ingests_previews_nothing(organization, api_for):
    for role in (Role.SENDER, Role.AUDITOR):
        answer = asked(api_for(organization, role))
        assert answer.status_code == 403
        assert answer.json()["detail"].startswith(f"The role {role.value} may")


@pytest.mark.django_db
def test_no_notice_has_the_address_of_the_preview(api):
    done(api.ingest(RECORD))
    assert shown(api, drafted(api))["notice_id"] != "preview"
    assert api.get("/v1/notices/preview").status_code == 405
    assert Notice.objects.count() == 1
