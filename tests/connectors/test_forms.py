"""Forms on which owners and admins create, edit, test and delete connectors. Secrets are not shown again."""

import html
import re
from urllib.parse import urlsplit

import pytest

from accounts import callers
from accounts import services as accounts
from accounts.models import User
from accounts.roles import Role
from connectors import kinds, services
from connectors.models import Connector, PollRun
from tests.back_office.conftest import pick
from tests.people import events, sign_in

pytestmark = pytest.mark.django_db
LIST = "/admin/connectors/connector/"
KINDS = ("s3", "gcs", "azure_blob", "http_json", "postgres", "directory")
API = {"name": "Claims", "schedule_seconds": "600", "setting_url": "https://claims.example/decisions"}
MAP = '{"fields": {"decision_id": "/id"}}'


def fields(browser, path):
    """Return the hidden form token of a page."""
    shown = browser.get(path).content.decode()
    token = re.search(r'name="form_token" value="([^"]*)"', shown)
    return {"form_token": token.group(1)} if token else {}


def send(browser, path, button, **entered):
    return browser.submit(path, **{**fields(browser, path), button: "", **entered})


def text_of(answer):
    return html.unescape(answer.content.decode())


@pytest.fixture
def owner(signed_in):
    return signed_in(Role.OWNER)


def test_the_list_leads_to_a_form_for_each_kind(owner):
    assert f"{LIST}create/" in text_of(owner.get(LIST))
    shown = text_of(owner.get(f"{LIST}create/"))
    for kind in KINDS:
        assert f"{LIST}create/{kind}/" in shown
        form = text_of(owner.get(f"{LIST}create/{kind}/"))
        for setting in kinds.kind(kind).Config.model_fields:
            assert f'name="setting_{setting}"' in form, (kind, setting)
        assert ('name="secret_ref"' in form) == bool(kinds.kind(kind).secret)
    assert owner.get(f"{LIST}create/ftp/").status_code == 404


def test_a_connector_is_created_and_edited_as_over_the_api(owner):
    made = send(owner, f"{LIST}create/http_json/", "save", **API, setting_map=MAP, secret_ref="file:claims")
    row = Connector.objects.get()
    assert (made.status_code, made["Location"]) == (302, f"{LIST}{row.pk}/change/")
    assert row.config == {"url": API["setting_url"], "map": {"fields": {"decision_id": "/id"}}}
    assert (row.name, row.schedule_seconds, row.secret_ref, row.problems) == ("Claims", 600, "file:claims", [])
    assert row.next_poll_at
    edit = f"{LIST}{row.pk}/edit/"
    shown = text_of(owner.get(edit))
    assert "https://claims.example/decisions" in shown
    assert '"decision_id": "/id"' in shown
    stored = {**API, "setting_map": MAP, "secret_ref": "file:claims", "setting_format": "auto"}
    send(owner, edit, "save", **{**stored, "name": "Other"})
    row.refresh_from_db()
    assert (row.name, row.version) == ("Other", 1), "a name changes nothing of what is read"
    send(owner, edit, "save", **{**stored, "setting_items": "/data", "setting_map": ""})
    row.refresh_from_db()
    assert (row.config, row.version) == ({"url": API["setting_url"], "items": "/data"}, 2)
    assert [event.verb for event in events("connector.created") + events("connector.changed")] == [
        "connector.created",
        "connector.changed",
        "connector.changed",
    ]


def test_required_settings_are_marked_and_come_first_and_a_refused_form_says_so_at_its_top(owner):
    shown = text_of(owner.get(f"{LIST}create/s3/"))
    assert "Bucket *" in shown
    assert re.search(r'<input[^>]*name="setting_bucket"[^>]*aria-required="true"', shown)
    assert "Region *" not in shown
    places = [shown.index(f'name="setting_{name}"') for name in ("bucket", "region", "prefix", "endpoint", "format")]
    assert places == sorted(places)
    assert "Correct this field" not in shown
    refused = text_of(send(owner, f"{LIST}create/s3/", "save", name="", schedule_seconds="300"))
    assert refused.index("Correct this field") < refused.index('<label for="id_name"')
    assert '<a href="#id_name">Name</a>: ' in refused


def test_a_form_that_is_sent_twice_makes_one_connector(owner):
    page = f"{LIST}create/http_json/"
    entered = {**fields(owner, page), **API, "save": ""}
    owner.submit(page, **entered)
    again = owner.submit(page, **entered)
    assert again.status_code == 302
    assert Connector.objects.count() == 1
    assert "sent already" in text_of(owner.get(LIST))


def test_bad_settings_are_saved_as_problems_and_a_bad_form_is_not(owner):
    send(owner, f"{LIST}create/postgres/", "save", name="Loans", schedule_seconds="300", setting_host="a/b")
    row = Connector.objects.get()
    shown = text_of(owner.get(f"{LIST}{row.pk}/change/"))
    assert "not polled until" in shown
    assert all(problem in shown for problem in row.problems)
    assert (row.config, row.next_poll_at) == ({"host": "a/b"}, None)
    for wrong in ({"name": ""}, {"schedule_seconds": "29"}, {"secret_ref": "env:PATH"}, {"setting_headers": "{"}):
        refused = send(owner, f"{LIST}create/http_json/", "save", **{**API, **wrong})
        assert refused.status_code == 422, wrong
    assert Connector.objects.count() == 1


@pytest.mark.parametrize("button", ["save", "test", "preview", "name"])
@pytest.mark.parametrize(
    "entered",
    [
        {"setting_url": "https://user:hunter2@claims.example/"},
        {"setting_url": "https://claims.example/?token=hunter2"},
        {"setting_headers": '{"Authorization": "Bearer hunter2"}'},
        {"setting_map": '{"fields": {"decision_id": "/id"}, "constants": {"api_key": "hunter2"}}'},
        {"secret_ref": "hunter2", "item": '{"id": 1}'},
    ],
)
def test_a_setting_that_looks_like_a_secret_is_not_shown_again(owner, button, entered):
    entered = {**API, "item": '{"id": 1}', **entered}
    if button == "name":  # a form that is refused for another reason
        button, entered["name"] = "save", ""
    answer = send(owner, f"{LIST}create/http_json/", button, **entered)
    assert "hunter2" not in text_of(answer)
    for row in Connector.objects.all():
        assert "hunter2" not in text_of(owner.get(f"{LIST}{row.pk}/change/"))
        assert "hunter2" not in text_of(owner.get(f"{LIST}{row.pk}/edit/"))
        assert "looks like a secret" in text_of(owner.get(f"{LIST}{row.pk}/change/"))


def test_a_record_is_previewed_byte_for_byte_before_anything_is_saved(owner):
    page = f"{LIST}create/http_json/"
    item = '{"id": 7,  "amount": 1.50, "note": "<b>&"}'
    shown = text_of(send(owner, page, "preview", **API, setting_map=MAP, item=item))
    assert '{"decision_id":"7","original":{"id": 7,  "amount": 1.50, "note": "<b>&"}}' in shown
    assert "This item becomes a record" in shown
    assert API["setting_url"] in shown, "what was entered stays in the form"
    assert not Connector.objects.exists()
    unmapped = text_of(send(owner, page, "preview", **API, item=item))
    assert "It has no usable decision_id" in unmapped
    unfinished = text_of(send(owner, page, "preview", name="x", schedule_seconds="300", setting_map=MAP, item=item))
    assert "This item becomes a record" in unfinished
    assert "config.url: This setting is required." in unfinished
    assert "Enter an item" in text_of(send(owner, page, "preview", **API))
    empty = text_of(send(owner, page, "preview", name="x", schedule_seconds="300"))
    assert empty.index("Enter an item to preview.") < empty.index("config.url: This setting is required.")
    wrong = text_of(send(owner, page, "preview", **API, setting_map="{}", item=item))
    assert "fields must say where the decision_id is" in wrong
    opa = text_of(send(owner, page, "preview", **API, setting_format="opa", item='{"decision_id": "x"}'))
    assert "This item becomes a record" in opa


def test_a_test_shows_its_steps_and_saves_nothing(owner, feed, organization, connector_of):
    feed.add({"decision_id": "loan-1"})
    entered = {"name": "Loans", "schedule_seconds": "300", "setting_feed": "main"}
    shown = text_of(send(owner, f"{LIST}create/directory/", "test", **entered))
    assert "The test succeeded" in shown
    assert "loan-1" in shown
    assert not Connector.objects.exists()
    failed = text_of(send(owner, f"{LIST}create/directory/", "test", **{**entered, "setting_feed": "other"}))
    assert "The test failed" in failed
    assert "there is no such feed" in failed
    row = connector_of(organization)
    page = f"{LIST}{row.pk}/change/"
    assert "The test succeeded" in text_of(owner.submit(page, f"{LIST}{row.pk}/test/"))
    assert not PollRun.objects.exists()
    assert not events("connector.changed")


def test_a_connector_is_deleted_and_its_records_stay(owner, feed, organization, connector_of):
    feed.add({"decision_id": "loan-1"}, b"bad")
    row = connector_of(organization)
    services.poll_due()
    gone = owner.submit(f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/actions/delete/")
    assert gone["Location"] == LIST
    assert not Connector.objects.exists()
    assert "loan-1" in text_of(owner.get("/admin/decisions/decision/"))


def test_one_item_of_the_quarantine_is_retried_or_dismissed(owner, feed, organization, connector_of):
    feed.add(b"bad", b"worse")
    row = connector_of(organization)
    services.poll_due()
    first, second = row.quarantine.order_by("pk")
    page = f"{LIST}{row.pk}/change/"
    owner.submit(page, f"{LIST}{row.pk}/actions/dismiss/{first.pk}/")
    assert list(row.quarantine.all()) == [second]
    assert owner.submit(page, f"{LIST}{row.pk}/actions/delete/{second.pk}/").status_code == 404
    owner.submit(page, f"{LIST}{row.pk}/actions/retry/{second.pk}/")
    assert not row.quarantine.exists()


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR, Role.AUDITOR])
def test_no_other_role_gets_to_a_form(signed_in, feed, organization, connector_of, role):
    browser, row = signed_in(role), connector_of(organization)
    for path in ("create/", "create/directory/", f"{row.pk}/edit/"):
        assert browser.get(f"{LIST}{path}").status_code == 403, path
    token = browser.csrf_token("/admin/")
    for path in (
        "create/directory/",
        f"{row.pk}/edit/",
        f"{row.pk}/test/",
        f"{row.pk}/actions/delete/",
        f"{row.pk}/actions/poll/",
    ):
        answer = browser.post(f"{LIST}{path}", {"csrfmiddlewaretoken": token, "save": ""})
        assert answer.status_code == 403, path
    assert Connector.objects.get().enabled


def test_a_member_without_second_factor_and_a_platform_operator_may_only_look(owner, feed, organization, connector_of):
    row = connector_of(organization)
    accounts.require_second_factor(caller=callers.system(organization.pk), required=True)
    runner = sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)
    pick(runner, organization)
    for browser in (owner, runner):
        shown = text_of(browser.get(f"{LIST}{row.pk}/change/"))
        assert "disabled" in shown
        for path in ("create/directory/", f"{row.pk}/edit/"):
            assert browser.get(f"{LIST}{path}").status_code == 200
        token = browser.csrf_token("/admin/")
        for path in ("create/directory/", f"{row.pk}/edit/", f"{row.pk}/test/", f"{row.pk}/actions/delete/"):
            answer = browser.post(f"{LIST}{path}", {"csrfmiddlewaretoken": token, "save": ""})
            assert answer.status_code == 403, path
    assert Connector.objects.count() == 1


def test_another_organization_s_connector_has_no_form(owner, feed, other_api, connector_of):
    theirs = connector_of(other_api.organization, name="theirs")
    assert owner.get(f"{LIST}{theirs.pk}/edit/").status_code == 404
    token = owner.csrf_token("/admin/")
    for action in ("edit", "test", "actions/poll", "actions/delete", "actions/retry"):
        answer = owner.post(f"{LIST}{theirs.pk}/{action}/", {"csrfmiddlewaretoken": token, "save": ""})
        assert answer.status_code == 404, action
    assert Connector.objects.get() == theirs


def test_a_form_needs_its_token_against_forgery(owner):
    path = urlsplit(f"{LIST}create/http_json/").path
    assert owner.post(path, {**API, "save": ""}).status_code == 403
    assert not Connector.objects.exists()
