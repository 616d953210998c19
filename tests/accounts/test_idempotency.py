"""`Idempotency-Key`: a repeated creating request gets the first answer and creates nothing more."""

import json
from datetime import timedelta
from typing import Any, ClassVar

import pytest
import time_machine
from django.apps import apps
from django.conf import settings as django_settings
from django.db import connection
from django.test import RequestFactory
from django.utils import timezone

from accounts import audit, callers, services, tasks
from accounts.idempotency import idempotent_about
from accounts.models import ApiKey, AuditEvent, Invite, KeptAnswer
from accounts.roles import Role
from config.errors import DomainError, Fault
from config.http.json_responses import answer as answer_of_api
from config.http.resources import Resource, operation
from notices.models import Notice
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS
from tests.conftest import Api
from tests.peppers import new_pepper
from tests.support.undone import undone
from tests.threads import at_once

pytestmark = pytest.mark.django_db

KEYS = "/v1/auth/api-keys"
OTHER = {
    "POST auth/api-keys": {"name": "another"},
    "POST auth/invites": {"role": "auditor"},
    "POST authority-grants": {"authority": "head of credit"},
    "POST decisions/<any:decision_id>/reconsideration": {"rationale": "another"},
    "POST decisions/<any:decision_id>/notices": {"recipient": {"name": "Another"}},
    "POST notices/<str:notice_id>/deliveries": {"reference": "another"},
    "POST notices/<str:notice_id>/versions": {"another": 1},
    "POST connectors": {"name": "Another"},
    "POST retention/holds": {"matter": "Another"},
}
"""Every operation that creates, with a change that makes its example body different."""


def send(api: Api, path: str, body: bytes, key: str | None = "once", **headers: str) -> Any:
    if key is not None:
        headers["Idempotency-Key"] = key
    return api.client.post(path, body, content_type="application/json", headers=headers)


def with_name(name: str) -> bytes:
    return json.dumps({"name": name}).encode()


def rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


def everything_stored() -> str:
    tables = (model._default_manager.values_list() for model in apps.get_models())
    return "\n".join(str(row) for table in tables for row in table)


@pytest.mark.once
def test_these_are_the_operations_that_create():
    """Four others answer 201. Ingest repeats by its decision_id, a mapping by its name, a version by its entries."""
    document = json.loads((django_settings.BASE_DIR / "docs" / "openapi.json").read_bytes())
    taking, creating = set(), set()
    for path, operations in document["paths"].items():
        for method, described in operations.items():
            if any(parameter["name"] == "Idempotency-Key" for parameter in described.get("parameters", [])):
                taking.add((method, path))
                assert "409" in described["responses"]
            if "201" in described["responses"]:
                creating.add((method, path))
    mappings = ("mappings", "mappings/ready/{ready}", "mappings/{mapping_id}/versions")
    by_content = {("post", f"/v1/{path}") for path in ("ingest/srf", *mappings)}
    assert creating - taking == by_content
    assert len(taking) == len(creating) - len(by_content) == len(OTHER)


@pytest.mark.once
def test_a_repeated_request_gets_the_first_answer_and_creates_nothing(api, subtests):
    belongings = Belongings(api)
    for name in OTHER:
        path, body = "/v1/" + belongings.shared(ENDPOINTS[name].path), ENDPOINTS[name].body
        with subtests.test(name), undone():
            first = send(api, path, body)
            assert first.status_code == 201, first.content
            assert "Idempotent-Replayed" not in first
            before = rows()
            again = send(api, path, body)
            assert (again.status_code, again.content) == (201, first.content)
            assert (again["Idempotent-Replayed"], again["Content-Type"]) == ("true", "application/json")
            assert rows() == before


@pytest.mark.once
def test_another_body_under_the_same_key_is_a_409_and_changes_nothing(api, subtests):
    belongings = Belongings(api)
    for name in OTHER:
        path, body = "/v1/" + belongings.shared(ENDPOINTS[name].path), ENDPOINTS[name].body
        with subtests.test(name), undone():
            first = send(api, path, body)
            before = rows()
            other = send(api, path, json.dumps({**json.loads(body or b"{}"), **OTHER[name]}).encode())
            assert other.status_code == 409
            assert other.json()["detail"].startswith("This Idempotency-Key came with another body before.")
            assert rows() == before
            assert send(api, path, body).content == first.content


@pytest.mark.once
def test_without_the_header_no_answer_is_stored(api, subtests):
    belongings = Belongings(api)
    for name in OTHER:
        path, body = "/v1/" + belongings.shared(ENDPOINTS[name].path), ENDPOINTS[name].body
        with subtests.test(name), undone():
            assert send(api, path, body, None).status_code == 201
            assert not KeptAnswer.objects.exists()


def test_ingest_has_its_decision_id_and_ignores_the_header(api):
    for decision_id in ("loan-1", "loan-2"):
        assert send(api, "/v1/ingest/srf", json.dumps({"decision_id": decision_id}).encode()).status_code == 201
    assert not KeptAnswer.objects.exists()


def test_another_spelling_is_the_same_body(api):
    first = send(api, "/v1/auth/invites", b'{"email": "a@b.example", "role": "editor"}')
    again = send(api, "/v1/auth/invites", b'{ "role":"\\u0065ditor",\n"email":"a@b.example" }')
    assert (again.status_code, again.content) == (201, first.content)
    assert Invite.objects.count() == 1


def test_a_repeated_answer_lists_ignored_names_too(api):
    body = b'{"name": "n", "nmae": "m"}'
    answers = [send(api, KEYS, body) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[1].json()["ignored"] == ["nmae"]


def test_a_key_counts_for_24_hours(api):
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        first = send(api, KEYS, with_name("n")).json()
    for after, same in ((timedelta(hours=23, minutes=59), True), (timedelta(hours=24), False)):
        with time_machine.travel(start + after, tick=False):
            assert (send(api, KEYS, with_name("n")).json() == first) == same
    with time_machine.travel(start + timedelta(hours=25), tick=False):
        assert send(api, KEYS, with_name("another")).status_code == 409, "another day begins"


def test_the_clock_deletes_expired_answers(api):
    now = timezone.now()
    for hours in (30, 24, 23, 0):
        with time_machine.travel(now - timedelta(hours=hours), tick=False):
            send(api, KEYS, with_name("n"), f"{hours}-hours-ago")
    with time_machine.travel(now, tick=False):
        tasks.forget_answers()
    assert KeptAnswer.objects.count() == 2


def test_a_key_belongs_to_one_caller_operation_and_object(api, api_for, organization, other_api):
    belongings = Belongings(api)
    decisions = [belongings.decision(), belongings.decision()]
    made = {send(api, f"/v1/decisions/{decision}/notices", b"{}").json()["notice_id"] for decision in decisions}
    callers = [api, api_for(organization, Role.OWNER), other_api]
    made |= {send(caller, KEYS, with_name("n")).json()["key_id"] for caller in callers}
    assert len(made) == 5
    assert send(api, "/v1/auth/invites", b'{"email": "a@b.example", "role": "editor"}').status_code == 201


@pytest.mark.once
def test_a_member_may_use_idempotency_keys_too(signed_in):
    browser = signed_in(Role.OWNER)
    token = browser.get("/v1/auth/me").json()["csrf_token"]
    headers = {"X-CSRFToken": token, "Idempotency-Key": "once"}
    made = [browser.post(KEYS, {"name": "n"}, content_type="application/json", headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].content == made[1].content


@pytest.mark.once
@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("", "string_too_short"),
        ("x" * 256, "string_too_long"),
        ("two words", "string_pattern_mismatch"),
        ("tab\t", "string_pattern_mismatch"),
        ("ümlaut", "string_pattern_mismatch"),
        ("\x7f", "string_pattern_mismatch"),
    ],
)
def test_a_key_has_1_to_255_visible_characters(api, key, kind):
    answer = send(api, KEYS, with_name("n"), key)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["loc"], problem["type"]) == (422, ["header", "Idempotency-Key"], kind)
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize(
    "key", ["x", "x" * 255, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "".join(map(chr, range(33, 127)))]
)
def test_every_such_key_is_taken(api, key):
    assert {send(api, KEYS, with_name("n"), key).status_code for _ in range(2)} == {201}
    assert ApiKey.objects.count() == 2


# ── what is refused or fails ──


def test_a_refused_request_may_be_corrected_under_its_key(api):
    path = "/v1/auth/invites"
    for wrong, status in (
        (b"", 422),
        (b"{", 422),
        (b"{}", 422),
        (b'{"email": "owner@bank.example", "role": "editor"}', 409),
    ):
        assert send(api, path, wrong).status_code == status
    assert send(api, path, b'{"email": "a@b.example", "role": "editor"}').status_code == 201
    assert not KeptAnswer.objects.exclude(organization=api.organization).exists()


def test_a_body_of_another_type_is_a_415_under_a_key_too(api):
    answer = api.client.post(KEYS, b"n", content_type="text/plain", headers={"Idempotency-Key": "once"})
    assert answer.status_code == 415


ENDINGS = {
    "POST auth/api-keys": ("DELETE", "auth/api-keys/{key_id}"),
    "POST auth/invites": ("DELETE", "auth/invites/{invite_id}"),
    "POST authority-grants": ("DELETE", "authority-grants/{grant_id}"),
    "POST connectors": ("DELETE", "connectors/{source_id}"),
    "POST retention/holds": ("POST", "retention/holds/{number}/lift"),
}
"""Requests that end the object a request created, by its answer. Notices, reviews and deliveries never end."""


@pytest.mark.once
def test_an_answer_is_not_repeated_after_its_object_ended(api, subtests):
    """Otherwise a client would take a revoked credential for a working one."""
    belongings = Belongings(api)
    assert {name for name in OTHER if not name.startswith("POST decisions/") and "<" not in name} == set(ENDINGS)
    for name, (method, ending) in ENDINGS.items():
        path, body = "/v1/" + belongings.shared(ENDPOINTS[name].path), ENDPOINTS[name].body
        with subtests.test(name), undone():
            made = send(api, path, body).json()
            ended = api.client.generic(
                method, f"/v1/{ending.format(**made)}", b'{"reason": "over"}', content_type="application/json"
            )
            assert ended.status_code == 200, ended.content
            before = rows()
            again = send(api, path, body)
            assert (again.status_code, list(again.json())) == (409, ["detail"])
            assert again.json()["detail"].startswith("What this Idempotency-Key made has ended since.")
            assert rows() == before
            assert send(api, path, body, "another").status_code == 201


def test_a_revoked_key_is_not_answered_from_memory_and_another_key_makes_its_own(api, api_for, organization):
    maker = api_for(organization, Role.OWNER)
    first = send(maker, KEYS, with_name("n"))
    revoked = ApiKey.objects.get(key_id=maker.token.split("_")[1])
    services.revoke_api_key(caller=callers.system(organization.pk), key=revoked)
    assert send(maker, KEYS, with_name("n")).status_code == 401
    other = send(api, KEYS, with_name("n"))
    assert "Idempotent-Replayed" not in other
    assert other.json()["key_id"] != first.json()["key_id"]


def test_a_caller_without_permission_gets_no_stored_answer(api, organization):
    send(api, KEYS, with_name("n"))
    ApiKey.objects.filter(name="test").update(role=Role.AUDITOR)
    assert send(api, KEYS, with_name("n")).status_code == 403


class Lost(Fault):
    status = 503
    sentence = "Storage does not answer."


class Creating(Resource):
    """Return an operation that writes to the audit trail, refuses or creates a key, and then may fail."""

    refusal: ClassVar[Exception | None] = None
    failure: ClassVar[Exception | None] = None

    @operation("create", "Create.", permission=None, answers={})
    @idempotent_about(lambda request: None)
    def create(self, request):
        organization_id = request.auth.organization_id
        audit.record("tried", actor=audit.SYSTEM, organization_id=organization_id, object_kind="key", object_id="none")
        if self.refusal:
            raise self.refusal
        services.create_api_key(caller=callers.system(organization_id), name="made", role=Role.EDITOR)
        if self.failure:
            raise self.failure
        return answer_of_api({"status": "made"}, 201)


@pytest.fixture
def create(api):
    def call(**goes_wrong: Exception) -> Any:
        headers = {"Authorization": f"Bearer {api.token}", "Idempotency-Key": "once"}
        request = RequestFactory().post("/v1/made", b"{}", "application/json", headers=headers)
        return Creating.as_view({"post": "create"}, **goes_wrong)(request)

    return call


class NotNow(DomainError):
    status = 503
    sentence = "Not now."


def made() -> int:
    return ApiKey.objects.filter(name="made").count()


def test_what_a_refusal_leaves_in_the_audit_trail_stays(create):
    assert create(refusal=DomainError("No.")).status_code == 409
    assert (AuditEvent.objects.filter(verb="tried").count(), KeptAnswer.objects.count()) == (1, 0)
    assert (create().status_code, made()) == (201, 1)


@pytest.mark.parametrize("failure", [Lost(), RuntimeError(), NotNow()])
def test_a_request_that_fails_after_its_effect_is_rolled_back(create, failure):
    """Otherwise the retry that the answer asks for would create a second object."""
    assert create(failure=failure).status_code in (500, 503)
    assert made() == 0
    assert (create().status_code, made()) == (201, 1)
    assert (create()["Idempotent-Replayed"], made()) == ("true", 1)


def test_without_a_stored_answer_nothing_is_created(api):
    rename = "ALTER TABLE accounts_keptanswer RENAME COLUMN {} TO {}"
    with connection.cursor() as cursor:
        cursor.execute(rename.format("sealed", "hidden"))
    try:
        assert send(api, KEYS, with_name("n")).status_code in (500, 503)
        assert ApiKey.objects.count() == 1
    finally:
        with connection.cursor() as cursor:
            cursor.execute(rename.format("hidden", "sealed"))
    assert send(api, KEYS, with_name("n")).status_code == 201
    assert ApiKey.objects.count() == 2


# ── stored answers ──


@pytest.mark.once
def test_a_stolen_database_reveals_no_keys_bodies_or_answers(api):
    key = "order-4711-canary"
    answer = send(api, KEYS, b'{"name": "n", "more": "canary-9a"}', key).json()
    decision = Belongings(api, "canary-path").decision()
    send(api, f"/v1/decisions/{decision}/notices", b'{"recipient": {"name": "Ada Canary"}}', key)
    stored = "\n".join(map(str, KeptAnswer.objects.values_list()))
    for secret in (key, "canary", "Canary", answer["api_key"], answer["key_id"]):
        assert secret not in stored
    assert answer["api_key"].split("_", 2)[2] not in everything_stored()
    assert key not in everything_stored()


def test_an_answer_is_found_under_a_new_pepper_while_the_earlier_one_is_there(api):
    first = send(api, KEYS, with_name("n"))
    new_pepper()
    again = send(api, KEYS, with_name("n"))
    assert (again.content, again["Idempotent-Replayed"]) == (first.content, "true")


def test_an_answer_needs_the_whole_key(api):
    first = send(api, KEYS, with_name("n"), "the-clients")
    for guess in ("the-client", "The-clients", "the-clients-"):
        assert send(api, KEYS, with_name("n"), guess).content != first.content


# ── at the same time ──


@pytest.fixture
def bank(shared_database, api):
    """A caller, in a database that threads share as in production."""
    return api


def test_one_of_simultaneous_requests_creates_and_all_get_its_answer(bank):
    before = ApiKey.objects.count()
    answers = at_once(16, lambda _: send(bank, KEYS, with_name("n")))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sorted(answer.headers.get("Idempotent-Replayed", "") for answer in answers) == [""] + ["true"] * 15
    assert ApiKey.objects.count() == before + 1


def test_one_of_simultaneous_bodies_under_one_key_is_accepted(bank):
    answers = at_once(16, lambda number: send(bank, KEYS, with_name(f"n-{number}")))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 15
    assert ApiKey.objects.filter(name__startswith="n-").count() == 1


def test_simultaneous_drafts_make_one_notice_for_each_key(bank):
    path = f"/v1/decisions/{Belongings(bank).decision()}/notices"
    answers = at_once(16, lambda number: send(bank, path, b"{}", f"key-{number % 4}"))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == Notice.objects.count() == 4
