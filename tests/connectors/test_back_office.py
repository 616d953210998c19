"""Connector pages, where owners and admins see the state of connectors and act on them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.roles import Role
from connectors import selectors, services
from connectors.models import Connector, Quarantined
from decisions.models import Decision
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db
LIST = "/admin/connectors/connector/"


def page_of(connector):
    return f"{LIST}{connector.pk}/change/"


def act(browser, connector, action):
    answer = browser.submit(page_of(connector), f"{LIST}{connector.pk}/actions/{action}/")
    assert answer.status_code == 302
    return browser.get(answer["Location"]).content.decode()


def listed(browser, state):
    """Return the text of the list's rows, filtered by a state."""
    shown = browser.get(LIST, {"state": state}).content.decode()
    return "".join(re.findall(r'<table id="result_list">.*?</table>', shown, re.DOTALL))


def listed_of_kind(browser, kind):
    shown = browser.get(LIST, {"kind": kind}).content.decode()
    return "".join(re.findall(r'<table id="result_list">.*?</table>', shown, re.DOTALL))


@pytest.fixture
def polled(connector, feed):
    feed.add({"decision_id": "loan-1", "system": {"name": "loans"}}, b"<b>bad</b>")
    services.poll_due()
    return Connector.objects.get()


def test_the_list_and_the_page_say_how_it_is_doing(signed_in, polled):
    browser = signed_in(Role.ADMIN)
    listed = browser.get(LIST).content.decode()
    assert "Loans" in listed
    assert "finished" in listed
    shown = browser.get(page_of(polled)).content.decode()
    for text in ("running", "feed, item 2", "read to the end", "Poll now", "Retry all"):
        assert text in shown, text


def test_a_decision_names_the_connector_that_brought_it(signed_in, polled):
    page = f"/admin/decisions/decision/{Decision.objects.get().pk}/change/"
    owner, auditor = signed_in(Role.ADMIN), signed_in(Role.AUDITOR)
    linked = f'<a href="{page_of(polled)}"><bdi>the connector {polled.name}</bdi></a>'
    assert linked in owner.get(page).content.decode()
    assert f"<bdi>the connector {polled.name}</bdi>" in auditor.get(page).content.decode()
    act(owner, polled, "delete")
    shown = auditor.get(page).content.decode()
    assert "<bdi>a deleted connector</bdi>" in shown
    assert f"connector:{polled.source_id}" not in shown


def test_the_list_counts_what_is_in_quarantine_also_where_only_such_connectors_are_shown(
    signed_in, organization, connector_of, feed
):
    browser = signed_in(Role.OWNER)
    feed.add(b"bad", b"worse", b"worst")
    connector_of(organization, name="bad")
    services.poll_due()
    feed.items.clear()
    connector_of(organization, name="good")
    services.poll_due()
    assert "good" not in listed(browser, "quarantine")
    for state in ("", "quarantine"):
        assert '<td class="field-waiting">3</td>' in listed(browser, state)
    for state in ("failing", "problems", "disabled", "unknown"):
        assert browser.get(LIST, {"state": state}).status_code == 200
    for order in range(1, 9):
        assert browser.get(LIST, {"o": order}).status_code == 200


def test_an_operator_polls_disables_enables_resets_retries_and_dismisses(signed_in, polled, feed):
    browser = signed_in(Role.OWNER)
    assert "polled within" in act(browser, polled, "poll")
    assert services.due_count(9) == 1
    assert "Disabled" in act(browser, polled, "disable")
    assert "Enabled" in act(browser, polled, "enable")
    assert "from the beginning" in act(browser, polled, "reset")
    assert Connector.objects.get().cursor == {}
    assert "1 item will be read again" in act(browser, polled, "retry")
    services.poll_due()
    assert Quarantined.objects.count() == 1
    assert "1 item dismissed" in act(browser, polled, "dismiss")
    assert not Quarantined.objects.exists()
    assert browser.get(f"{LIST}{polled.pk}/actions/poll/").status_code == 405


def test_the_page_says_how_far_it_has_read_and_when(signed_in, polled):
    browser = signed_in(Role.OWNER)
    Connector.objects.update(cursor={})
    shown = browser.get(page_of(polled)).content.decode()
    assert "everything, at the last poll" in shown
    assert re.search(r"<dt>Last new record</dt><dd><bdi><time[^>]*>[^<]* UTC</time></bdi>", shown)
    Connector.objects.update(failures=1)
    assert "everything, at the last complete poll" in browser.get(page_of(polled)).content.decode()
    act(browser, polled, "reset")
    assert "nothing yet" in browser.get(page_of(polled)).content.decode()


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"problems": ["config: x"]}, "Fix them first."), ({"enabled": False}, "Enable it first.")],
)
def test_a_connector_that_is_not_polled_has_a_disabled_button_with_the_reason(signed_in, polled, changes, why):
    Connector.objects.update(**changes, next_poll_at=None)
    shown = signed_in(Role.OWNER).get(page_of(polled)).content.decode()
    assert re.search(rf"<button[^>]* disabled [^>]*>Poll now</button>\s*<span[^>]*>[^<]*{why}</span>", shown)


def test_kinds_have_one_name_everywhere(signed_in, polled):
    browser = signed_in(Role.OWNER)
    assert browser.get(LIST).content.decode().count("Folder") >= 2, "the list and its filter"
    assert "Loans" in listed_of_kind(browser, "directory")
    assert "Loans" not in listed_of_kind(browser, "s3")


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR, Role.AUDITOR])
def test_for_other_roles_there_are_no_pages(signed_in, polled, role):
    browser = signed_in(role)
    assert browser.get(LIST).status_code == 403
    assert browser.get(page_of(polled)).status_code == 403


def test_another_organization_s_connector_is_not_there(signed_in, other_api, connector_of):
    theirs = connector_of(other_api.organization, name="theirs")
    browser = signed_in(Role.OWNER)
    assert "theirs" not in browser.get(LIST).content.decode()
    assert browser.get(page_of(theirs)).status_code != 200


def test_the_list_takes_as_many_queries_however_long_it_is(
    signed_in, organization, connector_of, django_assert_max_num_queries
):
    browser = signed_in(Role.OWNER)
    for number in range(12):
        connector_of(organization, name=f"c{number}")
    services.poll_due()
    with django_assert_max_num_queries(12):
        browser.get(LIST)


def test_the_start_page_says_what_stopped_fell_silent_or_waits(signed_in, polled):
    browser, browser_of_approver = signed_in(Role.OWNER), signed_in(Role.APPROVER)
    shown = browser.get("/admin/").content.decode()
    assert "connector with items in quarantine: \u2068Loans\u2069" in shown
    assert "connector that stopped" not in shown
    Connector.objects.update(silent_at=timezone.now(), last_new_at=timezone.now() - timedelta(days=9))
    with unguarded():
        Decision.objects.update(received_at=timezone.now() - timedelta(days=8))
    shown = browser.get("/admin/").content.decode()
    for text in ("connector that fell silent", "system that used to send decisions"):
        assert text in shown
    assert "that used to send decisions and stopped: \u2068loans\u2069" in shown
    assert "connector that fell silent: \u2068Loans\u2069" in shown
    assert "Loans" in browser.get(f"{LIST}?state=silent").content.decode()
    assert "Loans" not in listed(browser, "stopped")
    Connector.objects.update(stopped_at=timezone.now(), stopped_because="Locked.", next_poll_at=None)
    shown = browser.get("/admin/").content.decode()
    assert "connector that stopped" in shown
    assert "connector that fell silent" not in shown
    assert "Loans" in listed(browser, "stopped")
    seen = browser_of_approver.get("/admin/").content.decode()
    assert "system that used to send decisions and stopped" in seen
    assert "connector that" not in seen
    connectors = [Connector(name=f"c{n}" * 50, kind="s3", organization_id=polled.organization_id) for n in range(7)]
    for row in connectors:
        row.stopped_at, row.stopped_because = timezone.now(), "Locked."
    Connector.objects.bulk_create(connectors)
    shown = browser.get("/admin/").content.decode()
    assert "connectors that stopped: " in shown
    assert "and 3 more" in shown
    assert "c0" * 40 not in shown, "long names are cut"


def test_systems_that_stopped_are_those_that_sent_within_three_months(api, organization, other_api):
    for system, days in {"loans": 8, "cards": 6, "old": 100, "claims": 89}.items():
        api.ingest({"decision_id": system, "system": {"name": system}})
        with unguarded():
            Decision.objects.filter(decision_id=system).update(received_at=timezone.now() - timedelta(days=days))
    api.ingest({"decision_id": "loans-0", "system": {"name": "loans"}})
    with unguarded():
        Decision.objects.filter(decision_id="loans-0").update(received_at=timezone.now() - timedelta(days=30))
    systems = selectors.stopped_systems(organization.pk)
    assert list(systems) == ["claims", "loans"]
    assert (timezone.now() - systems["loans"]).days == 8
    assert selectors.stopped_systems(other_api.organization.pk) == {}
