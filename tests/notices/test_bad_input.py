"""Malformed and hostile input: refused with a reason, or stored and shown as plain text."""

import json
import time
from itertools import product

import pytest

from config.http.body import strict_json
from notices.models import Notice
from tests.cases import each_case
from tests.growth import TIMES, TOLERATED, assert_linear
from tests.notices.conftest import RECORD, approve, approve_as_listed, done, drafted, edit, send, shown, warnings_of

pytestmark = pytest.mark.django_db

MANY = 2_000
SCRIPT = '<script>alert("1")</script><img src=x onerror=alert(1)>'
HEBREW = "ההחלטה התקבלה על ידי מערכת אוטומטית."
OVERRIDE = "The sum is \u202e05\u202c euro."


def letter(api, notice, form: str) -> str:
    answer = api.get(f"/v1/notices/{notice['notice_id']}/letter", format=form)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def one(statement: str, source: str = "outcome.reasons.0") -> list[dict]:
    return [{"statement": statement, "source": source}]


# ── large input ──


def fields(api, count: int) -> dict:
    """Return a notice about a record with `count` fields."""
    name = f"fields-{count}"
    done(api.ingest({"decision_id": name, "outcome": {"action": "denied"}, "f": {f"n{n}": n for n in range(count)}}))
    return drafted(api, name)


def seconds_for(api, count: int) -> float:
    """Return the CPU seconds of this thread from saving `count` statements to their letter and proof."""
    notice = fields(api, count)
    content = {"inputs_used": [{"statement": f"It counted {n}.", "source": f"f.n{n}"} for n in range(count)]}
    assert len(json.dumps({"content": content})) < strict_json.MAX_BYTES
    started = time.thread_time()
    edited = done(edit(api, notice, **content))
    assert len(edited["citations"]) >= count
    assert edited["problems"] == []
    approved = done(approve(api, notice, acknowledge=[warning["id"] for warning in edited["warnings"]]))
    assert len(approved["content"]["inputs_used"]) == count
    assert approved["custody_record_id"]
    for form in ("html", "text"):
        assert f"It counted {count - 1}." in letter(api, notice, form)
    proof = json.loads(letter(api, notice, "proof"))
    assert len(proof["field_proofs"]) >= count
    return time.thread_time() - started


def test_thousands_of_statements_are_saved_shown_approved_and_printed(api):
    """The time per statement stays the same as with few statements."""
    few = MANY // TIMES**2
    assert seconds_for(api, MANY) <= TOLERATED / TIMES * MANY / few * seconds_for(api, few)


def test_thousands_of_unresolved_sources_are_named(api, notice):
    def name(count):
        content = {"inputs_used": [{"statement": "It counted.", "source": f"outcome.n{n}"} for n in range(count)]}
        assert len(done(edit(api, notice, **content))["problems"]) == count
        assert approve(api, notice).status_code == 409

    assert_linear(name, int, MANY)


def test_a_body_above_the_limit_is_refused_and_saves_nothing(api, notice):
    assert edit(api, notice, title="x" * strict_json.MAX_BYTES).status_code == 413
    assert shown(api, notice)["revision"] == 1


# ── unusual text ──


def test_markup_in_a_statement_is_text_wherever_it_is_shown(api, notice):
    done(edit(api, notice, title=SCRIPT, main_factors=one(SCRIPT), rights=[SCRIPT], deadline_note=SCRIPT))
    done(approve(api, notice, acknowledge=warnings_of(api, notice)))
    page = letter(api, notice, "html")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("&lt;script&gt;alert(") >= 4
    assert SCRIPT in letter(api, notice, "text")
    assert shown(api, notice)["content"]["title"] == SCRIPT


def test_markup_in_a_recipient_and_in_the_organization_s_name_is_text_too(api, organization):
    organization.name = f"Bank {SCRIPT}"
    organization.save()
    api.ingest(RECORD)
    page = letter(api, drafted(api, recipient={"name": SCRIPT, "address": [SCRIPT], "reference": SCRIPT}), "html")
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_text_of_every_script_comes_back_as_it_was_sent_and_can_be_printed(api, notice):
    texts = [HEBREW, OVERRIDE, "👩‍⚖️ decided.", "x" * 100_000, "\u2028 \u0085 \t end."]
    statements = [item for text in texts for item in one(text)]
    edited = done(edit(api, notice, main_factors=statements))
    assert edited["content"]["main_factors"] == statements
    done(approve_as_listed(api, edited))
    for form in ("html", "text"):
        letter(api, notice, form)
    assert json.loads(letter(api, notice, "proof"))["content"]["main_factors"] == statements


def test_a_sentence_from_right_to_left_is_marked_as_such(api, notice):
    edit(api, notice, main_factors=one(HEBREW))
    assert 'dir="rtl"' in letter(api, notice, "html")


@each_case("source", ["", ".", "..", "outcome.", "outcome", '"', '"\\u', "outcome.reasons.99", "x" * 4096])
def test_a_source_that_is_no_path_is_saved_and_named(api, notice, source):
    edited = done(edit(api, notice, inputs_used=one("A fact.", source)))
    assert edited["problems"] == [f"The source {source} leads nowhere in the record."]
    assert approve(api, notice).status_code == 409


def test_a_source_of_more_than_4_kb_is_refused(api, notice):
    answer = edit(api, notice, main_factors=one("A reason.", "x" * 4097))
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["type"], problem["ctx"]) == ("string_too_long", {"max_length": 4096})
    assert problem["loc"] == ["body", "content", "main_factors", 0, "source"]
    assert shown(api, notice)["revision"] == 1


@each_case("text", ["\x00", "\ud800"])
@each_case(
    ("method", "path", "body"),
    [
        ("PATCH", "notices/{notice_id}", {"content": {"title": "?"}}),
        ("PATCH", "notices/{notice_id}", {"content": {"main_factors": [{"statement": "?", "source": "a"}]}}),
        ("PUT", "notices/{notice_id}/not-applicable", {"elements": {"inputs": "?"}}),
        ("POST", "notices/{notice_id}/approve", {"approver": "?", "authority": "?", "comment": "?"}),
        ("POST", "notices/{notice_id}/request-changes", {"reason": "?"}),
        ("POST", "notices/{notice_id}/deliveries", {"channel": "post", "address": "?"}),
        ("POST", "decisions/loan-1/notices", {"recipient": {"name": "?"}}),
        ("POST", "decisions/loan-1/notices", {"recipient": {"?": "name"}}),
        ("POST", "authority-grants", {"email": "?", "authority": "?", "valid_from": "2026-01-01", "evidence": "?"}),
        ("PUT", "notice-settings", {"default_pack": "general", "placeholders": {"?": "?"}}),
    ],
)
def test_a_nul_or_half_a_character_is_refused(api, notice, method, path, body, text):
    raw = json.loads(json.dumps(body).replace("?", json.dumps(text)[1:-1]))
    answer = send(api, method, path.format(**notice), raw)
    assert answer.status_code == 422, answer.content
    assert Notice.objects.count() == 1


# ── recipients ──


def nested(depth: int) -> dict:
    made: dict = {}
    for _ in range(depth):
        made = {"in": made}
    return made


def test_a_deep_recipient_is_taken_or_refused_and_breaks_no_letter(api):
    api.ingest(RECORD)
    for depth in (1, 20, 60):
        letter(api, drafted(api, recipient=nested(depth)), "html")
    assert send(api, "POST", "decisions/loan-1/notices", {"recipient": nested(100)}).status_code == 422


@each_case(
    "recipient",
    [
        {"name": 5, "address": {"street": "x"}, "email": [], "language": 7, "reference": None},
        {"name": ["A", "B"], "address": [1, None, ["x"]], "language": "", "reference": {"a": 1}},
        {"language": "x" * 10_000},
        {"language": "../../etc/passwd"},
        {"": ""},
    ],
)
def test_a_recipient_of_any_shape_is_taken_and_its_letter_can_be_printed_and_approved(api, recipient):
    api.ingest(RECORD)
    notice = drafted(api, recipient=recipient)
    assert notice["language"] == "en"
    done(approve(api, notice))
    for form in ("html", "text"):
        letter(api, notice, form)


@each_case("recipient", ["A. Person", 5, None, ["A. Person"], True])
def test_a_recipient_is_an_object(api, recipient):
    api.ingest(RECORD)
    answer = send(api, "POST", "decisions/loan-1/notices", {"recipient": recipient})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "recipient"])


# ── bodies that are no JSON object ──


@each_case(
    ("path", "raw"),
    [
        *product(["notices/{notice_id}"], [b" ", b"[]", b"null", b'"content"', b"{", b'{"content": 1, "content": 1}']),
        ("notices/{notice_id}/approve", b"[]"),
        ("notices/{notice_id}/deliveries", b"\xff"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(api, notice, path, raw):
    method = "PATCH" if path.endswith("}") else "POST"
    answer = api.client.generic(method, f"/v1/{path.format(**notice)}", raw, content_type="application/json")
    assert answer.status_code == 422
    assert shown(api, notice)["revision"] == 1


def test_another_media_type_is_refused(api, notice):
    answer = api.client.generic("PATCH", f"/v1/notices/{notice['notice_id']}", b"{}", content_type="text/plain")
    assert answer.status_code == 415


def test_a_body_full_of_mistakes_has_a_small_answer(api, notice):
    for content in ({"rights": [1] * 20_000}, {"main_factors": [{}] * 20_000}):
        answer = send(api, "PATCH", f"notices/{notice['notice_id']}", {"content": content})
        assert answer.status_code == 422
        assert len(answer.content) < 50_000
