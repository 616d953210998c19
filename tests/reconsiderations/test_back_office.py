"""A decision's page: its record, its reviews, and a form for members who may record a review."""

import html
import re
from urllib.parse import quote

import pytest

from accounts import callers, services
from accounts.models import AuditEvent, User
from accounts.roles import MEMBER_ROLES, Role
from decisions.models import Decision
from tests.conftest import Api
from tests.custody.faulty_disk import full_disk
from tests.people import sign_in
from tests.reconsiderations.conftest import REVIEW, SENT_ONCE, check, is_committed, reconsider, record_of
from tests.statements import statements
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
TEXTS = {"rationale": REVIEW["rationale"], "evidence_considered": "payslip of March\r\n\r\n  letter of 4 May \r\n"}
FORM = {**REVIEW, **TEXTS, **SENT_ONCE}
MAY = set(Role) - {Role.AUDITOR}


def page_of(record_id):
    return f"/admin/decisions/decision/{record_id}/change/"


def target_of(record_id):
    return f"/admin/decisions/decision/{record_id}/reconsider/"


def text_of(answer):
    """Return the visible text of a page."""
    inline = re.sub(r"</?(bdi|strong|span|code)[^>]*>", "", answer.content.decode())
    inline = re.sub(r"<button.*?</button>", "", inline)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", inline)))


@pytest.fixture
def page(original):
    return page_of(original["record_id"])


@pytest.fixture
def target(original):
    return target_of(original["record_id"])


def reviews():
    return Decision.objects.filter(kind="reconsideration")


# ── the record and its reviews ──


def test_the_page_shows_each_field_with_its_path(signed_in, page):
    shown = text_of(signed_in().get(page))
    for part in ("outcome.action denied", "subject.reference application 7", "ratio 0.92", "None yet."):
        assert part in shown


def test_the_page_shows_numbers_as_the_record_spells_them(api, signed_in):
    """The page shows what is signed: 0.920 stays 0.920, and a long number keeps all its digits."""
    receipt = api.ingest(b'{"decision_id": "x", "a": 0.920, "b": 12345678901234567890.5, "c": true, "d": null}').json()
    shown = text_of(signed_in().get(page_of(receipt["record_id"])))
    for part in ("a 0.920", "b 12345678901234567890.5", "c true", "d null"):
        assert part in shown


def test_every_page_of_a_chain_shows_its_reviews_oldest_first(api, signed_in, page):
    first = reconsider(api, outcome="upheld", new_action=None, reviewer="First Reviewer").json()
    second = reconsider(api, first["decision_id"], reviewer="Second Reviewer").json()
    browser = signed_in()
    for url in (page, page_of(first["record_id"]), page_of(second["record_id"])):
        shown = text_of(browser.get(url))
        one = shown.index("Upheld by First Reviewer (credit officer)")
        other = shown.index("Overturned, new action Approved by Second Reviewer (credit officer)")
        assert one < other
    assert "Denied, now Approved" in text_of(browser.get(page))
    assert browser.get(page_of(first["record_id"])).content.decode().count('aria-current="true"') == 1


def test_the_number_of_queries_does_not_depend_on_the_history(api, signed_in, page):
    browser = signed_in()

    def queries():
        with statements() as captured:
            assert browser.get(page).status_code == 200
        return len(captured)

    reconsider(api)
    browser.get(page)
    with_one = queries()
    for _ in range(5):
        reconsider(api)
    assert queries() == with_one


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><h1>x"])
def test_markup_in_a_record_or_a_review_is_text(api, signed_in, text):
    receipt = api.ingest({"decision_id": text, text: text, "outcome": {"action": text}}).json()
    changes = dict.fromkeys(["outcome", "reviewer", "reviewer_authority", "new_action", "requested_by"], text)
    recorded = reconsider(api, quote(text, safe=""), **changes).json()
    browser = signed_in()
    for record_id in (receipt["record_id"], recorded["record_id"]):
        shown = browser.get(page_of(record_id)).content.decode()
        assert text not in shown
        assert html.escape(text) in shown


def test_values_written_from_right_to_left_are_isolated(api, signed_in):
    """With dir="auto" each value has its own direction, so that it cannot reverse the text around it."""
    receipt = api.ingest({"decision_id": "x", "note": "\u202eabc עברית", "שלום": "x"}).json()
    shown = signed_in().get(page_of(receipt["record_id"])).content.decode()
    assert '<dd dir="auto">\u202eabc עברית</dd>' in shown
    recorded = reconsider(api, "x", reviewer="\u202eתמר", reviewer_authority="שופטת", outcome="בוטל").json()
    shown = signed_in(Role.OWNER).get(page_of(recorded["record_id"])).content.decode()
    for value in ("\u202eתמר", "שופטת", "בוטל"):
        assert f"<bdi>{value}</bdi>" in shown


@pytest.mark.once
def test_the_page_of_a_damaged_record_states_the_damage(api, signed_in, page, filesystem_vault):
    damaged = api.ingest({"decision_id": "x"}).json()["record_id"]
    (path,) = filesystem_vault.rglob(damaged.replace("-", ""))
    path.write_bytes(path.read_bytes()[:-1])
    answer = signed_in().get(page_of(damaged))
    assert answer.status_code == 200
    assert "The stored record is damaged." in text_of(answer)


# ── recording a review ──


def test_the_form_records_a_review_like_the_api(api, signed_in, page, target):
    browser = signed_in(Role.EDITOR)
    answer = browser.submit(page, target, **FORM)
    assert answer.status_code == 200
    recorded = reviews().get()
    assert recorded.source == "back office"
    content = record_of(api, recorded.decision_id)
    assert content["outcome"] == {"result": "overturned", "action": "approved"}
    assert content["approval"] == {"approver": "A. Reviewer", "authority": "credit officer"}
    assert is_committed(content["rationale"], REVIEW["rationale"])
    assert all(map(is_committed, content["evidence_considered"], REVIEW["evidence_considered"]))
    event = AuditEvent.objects.get(verb="decision.reconsidered")
    assert event.actor_label.startswith("editor@")


def test_a_form_sent_twice_records_one_review(signed_in, page, target):
    browser = signed_in()
    browser.submit(page, target, **FORM)
    again = browser.submit(page, target, **{**FORM, "rationale": "Typed again."})
    recorded = reviews().get()
    assert again.headers["Location"] == page_of(recorded.pk)
    assert "recorded already" in text_of(browser.get(page_of(recorded.pk)))
    assert AuditEvent.objects.filter(verb="decision.reconsidered").count() == 1


@pytest.mark.once
def test_a_form_sent_twice_shows_no_salts_while_the_vault_does_not_answer(signed_in, page, target, filesystem_vault):
    browser = signed_in()
    browser.submit(page, target, **FORM)
    recorded = reviews().get()
    for file in filesystem_vault.rglob(recorded.pk.hex):
        file.unlink()
    assert browser.submit(page, target, **FORM)["Location"] == page_of(recorded.pk)
    assert AuditEvent.objects.filter(verb="decision.reconsidered").count() == 1


def test_the_answer_to_the_form_shows_the_current_action(signed_in, page, target):
    assert "Denied, now Approved" in text_of(signed_in().submit(page, target, **FORM))


def test_the_salts_are_shown_once_and_not_cached(api, signed_in, page, target):
    browser = signed_in()
    answer = browser.submit(page, target, **FORM)
    content = record_of(api, reviews().get().decision_id)
    salts = [content["rationale"]["salt"], *(commitment["salt"] for commitment in content["evidence_considered"])]
    assert [html.escape(salt) in answer.content.decode() for salt in salts] == [True] * 3
    assert "no-store" in answer["Cache-Control"]
    assert [salt in text_of(browser.get(page)) for salt in salts] == [False] * 3


def test_no_answer_repeats_the_texts(signed_in, page, target):
    browser = signed_in()
    for fields in (FORM, {**FORM, "reviewer": ""}, {**FORM, "outcome": "x" * 65}):
        shown = text_of(browser.submit(page, target, **fields))
        assert REVIEW["rationale"] not in shown
        assert "payslip of March" not in shown


def test_an_empty_required_field_has_an_error_and_the_others_keep_their_values(signed_in, page, target, subtests):
    browser = signed_in()
    token = browser.csrf_token(page)
    names = {"requested_by", "reviewer", "reviewer_authority", "outcome"}
    for field, value in [*((name, value) for name in names for value in ("", " ")), ("rationale", "")]:
        with subtests.test(field, value=value):
            answer = browser.post(target, {**FORM, field: value, "csrfmiddlewaretoken": token})
            assert answer.status_code == 422
            assert not reviews().exists()
            shown = answer.content.decode()
            assert "This field is required." in shown
            for other in names - {field}:
                assert f'value="{FORM[other]}"' in shown


def test_help_and_errors_describe_their_fields_for_screen_readers(signed_in, page, target):
    """A screen reader reads the elements that a field names in `aria-describedby`."""
    browser = signed_in()
    for answer in (browser.get(target), browser.submit(page, target, **{**FORM, "reviewer": "", "rationale": ""})):
        shown = answer.content.decode()
        described = " ".join(re.findall(r'aria-describedby="([^"]+)"', shown)).split()
        assert len(described) >= 5
        assert [name for name in described if shown.count(f'id="{name}"') != 1] == []


def test_the_commitment_is_to_the_rationale_as_typed_with_line_feeds(api, signed_in, page, target, subtests):
    browser = signed_in()
    for rationale in (" spaces around ", "two\r\nlines", "ends\r\n", "\ttab", "a\u2028b"):
        with subtests.test(rationale=rationale), undone():
            assert browser.submit(page, target, **{**FORM, "rationale": rationale}).status_code == 200
            answer = check(api, reviews().get().decision_id, rationale=rationale.replace("\r\n", "\n"))
            assert answer.json()["rationale"] is True


def test_only_a_line_break_separates_references(api, signed_in, page, target, subtests):
    browser = signed_in()
    for reference in ("a\u2028b", "a\x0bb", "a\x85b", "a\x1cb"):
        with subtests.test(reference=reference), undone():
            browser.submit(page, target, **{**FORM, "evidence_considered": f"{reference}\r\nother"})
            answer = check(api, reviews().get().decision_id, evidence_considered=[reference, "other"])
            assert answer.json()["evidence_considered"] == [True, True]


def test_a_reconsideration_can_be_reconsidered_on_its_page(api, original, signed_in):
    first = reconsider(api).json()
    answer = signed_in().submit(page_of(first["record_id"]), target_of(first["record_id"]), **FORM)
    assert answer.status_code == 200
    assert [review["reconsiders"] for review in api.get("/v1/decisions/loan-1").json()["history"]] == [
        "loan-1",
        first["decision_id"],
    ]


@pytest.mark.once
def test_while_the_vault_is_full_the_review_is_recorded_and_the_salts_are_shown(
    api, organization, filesystem_vault, original, signed_in, page, target
):
    browser = signed_in()
    token = browser.csrf_token(page)
    with full_disk(filesystem_vault):
        answer = browser.post(target, {**FORM, "csrfmiddlewaretoken": token})
    assert answer.status_code == 200
    assert "Keep these salts" in text_of(answer)
    assert reviews().get().record.state == "reserved"


# ── permissions ──


def test_a_role_without_the_permission_sees_why_the_form_is_missing(signed_in, page, target, subtests):
    for role in MEMBER_ROLES:
        with subtests.test(role=role), undone():
            browser = signed_in(role)
            answer = browser.get(page)
            shown = answer.content.decode()
            assert (f'href="{target}"' in shown) == (role in MAY)
            assert (re.search(r"<button[^>]* disabled", shown) is None) == (role in MAY)
            assert ("may not record and check reconsiderations." in text_of(answer)) == (role not in MAY)
            token = browser.csrf_token("/account/sessions/")
            answer = browser.post(target, {**FORM, "csrfmiddlewaretoken": token})
            assert answer.status_code == (200 if role in MAY else 403)
            assert reviews().exists() == (role in MAY)


def test_a_member_without_a_required_second_factor_cannot_record_a_review(organization, signed_in, page, target):
    browser = signed_in(Role.APPROVER)
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    assert "Confirm with your app" in text_of(browser.get(page))
    token = browser.csrf_token("/account/sessions/")
    answer = browser.post(target, {**FORM, "csrfmiddlewaretoken": token})
    assert answer.status_code == 403
    assert not reviews()


def test_a_platform_administrator_cannot_record_a_review(organization, page, target):
    runner = User.objects.create(email="runner@platform.example", is_superuser=True)
    browser = sign_in(runner.email)
    browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    assert "members act." in text_of(browser.get(page))
    token = browser.csrf_token("/account/sessions/")
    assert browser.post(target, {**FORM, "csrfmiddlewaretoken": token}).status_code == 403
    assert not reviews().exists()


def test_another_organizations_record_is_a_404(other_api: Api, signed_in, page):
    receipt = other_api.ingest({"decision_id": "loan-2", "note": "canary-3b9c"}).json()
    browser = signed_in()
    token = browser.csrf_token(page)
    attempts = [
        browser.get(page_of(receipt["record_id"])),
        browser.get(target_of(receipt["record_id"])),
        browser.post(target_of(receipt["record_id"]), {**FORM, "csrfmiddlewaretoken": token}),
        browser.post(page_of(receipt["record_id"]), {**FORM, "csrfmiddlewaretoken": token}),
    ]
    assert [answer.status_code for answer in attempts] == [404] * 4
    assert all(b"canary-3b9c" not in answer.content for answer in attempts)
    assert not reviews().exists()


def test_an_unknown_record_id_is_a_404(signed_in, page, subtests):
    browser = signed_in()
    for pk in ("0" * 32, "x", "..", "loan-1", "%00"):
        with subtests.test(pk=pk):
            token = browser.csrf_token(page)
            assert browser.get(page_of(pk)).status_code == 404
            assert browser.post(target_of(pk), {**FORM, "csrfmiddlewaretoken": token}).status_code == 404


def test_get_requests_change_nothing(signed_in, page, target):
    browser = signed_in()
    events = AuditEvent.objects.count()
    assert browser.get(target, FORM).status_code == 200
    assert browser.get(page, FORM).status_code == 200
    assert not reviews().exists()
    assert AuditEvent.objects.count() == events


def test_a_form_without_a_csrf_token_is_refused(signed_in, page, target):
    browser = signed_in()
    browser.get(page)
    assert browser.post(target, FORM).status_code == 403
    assert not reviews().exists()


def test_without_a_session_every_page_redirects_to_sign_in(client, page, target):
    for answer in (client.get(page), client.get(target), client.post(target, FORM)):
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]
    assert not reviews().exists()


def test_posting_the_form_to_the_page_itself_records_nothing(signed_in, page):
    browser = signed_in()
    browser.submit(page, page, **FORM)
    assert not reviews().exists()
