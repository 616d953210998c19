"""Pages of lists: order, places, and returning to where one was."""

import re
from html import unescape
from itertools import chain
from urllib.parse import parse_qs, urlencode

import pytest
from django.contrib.admin import site
from django.http import QueryDict
from django.urls import reverse

from accounts.back_office import ReadOnlyAdmin, lists
from accounts.models import ApiKey, AuditEvent
from accounts.roles import Role
from decisions.models import Decision
from tests.accounts.belongings import Belongings
from tests.back_office.test_lists import AUDIT, DECISIONS, decide, rows_of
from tests.people import add_person, dumped, linked

pytestmark = pytest.mark.django_db


@pytest.fixture
def pages_of_two(monkeypatch):
    monkeypatch.setattr(ReadOnlyAdmin, "list_per_page", 2)


# ── pages and order ──


def pages_from(browser, address, link="next"):
    """Yield each page from an address on, following its links."""
    while address:
        answer = browser.get(address)
        assert answer.status_code == 200, address
        yield answer
        address = linked(answer, link)


def page_by_page(browser, path, link="next", **query):
    """Yield the rows of each page."""
    for answer in pages_from(browser, f"{path}?{urlencode(query)}" if query else path, link):
        yield [row.pk for row in answer.context["cl"].result_list]


def sorts(browser, path):
    """Return the values of `o` that the headings of a list offer, both ways."""
    offered = re.findall(r'href="\?o=-?(\w+)"', browser.get(path).content.decode())
    return [sign + name for name in offered for sign in ("", "-")]


def test_the_pages_of_each_list_show_each_row_once_in_every_order(api, signed_in, monkeypatch, subtests):
    belongings = Belongings(api)
    for number in range(5):
        belongings.decision()
        add_person(api.organization, Role.EDITOR, f"person{number}@bank.example")
        assert api.post("/v1/auth/api-keys", dumped({"name": f"key {number % 2}"})).status_code == 201
    browser = signed_in(Role.OWNER)
    paths = [reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") for model in site._registry]
    orders = {path: [{}, *({"o": order} for order in sorts(browser, path))] for path in paths}
    is_list = {path: 'id="changelist"' in browser.get(path).content.decode() for path in paths}
    whole = {path: [*page_by_page(browser, path)] for path in paths if is_list[path]}
    monkeypatch.setattr(ReadOnlyAdmin, "list_per_page", 2)
    for path, (rows,) in whole.items():
        for order in orders[path]:
            with subtests.test(path=path, order=order):
                shown = [*page_by_page(browser, path, **order)]
                assert sorted(map(str, chain(*shown))) == sorted(map(str, rows))
                assert all(len(page) == 2 for page in shown[:-1])
                if not order:
                    assert [*chain(*shown)] == rows
    assert len(orders["/admin/accounts/member/"]) > 1


def test_pages_do_not_end_at_the_limit_of_the_count(api, signed_in, pages_of_two, monkeypatch):
    monkeypatch.setattr(lists, "MAX_ROWS", 3)
    for number in range(6):
        decide(api, f"loan-{number}")
    assert [len(page) for page in page_by_page(signed_in(Role.AUDITOR), DECISIONS)] == [2, 2, 2]


def test_previous_leads_back_through_the_same_pages_while_decisions_come_in(api, signed_in, pages_of_two):
    for number in range(5):
        decide(api, f"loan-{number}")
    browser = signed_in(Role.AUDITOR)
    ids = {row.pk: row.decision_id for row in Decision.objects.all()}
    forwards = []
    for page in page_by_page(browser, DECISIONS):
        forwards.append([ids[pk] for pk in page])
        decide(api, f"new-{len(forwards)}")
    assert forwards == [["loan-4", "loan-3"], ["loan-2", "loan-1"], ["loan-0"]]
    *_, last = pages_from(browser, DECISIONS)
    backwards = [*page_by_page(browser, last.wsgi_request.get_full_path(), "prev")]
    assert [ids.get(pk, "new") for rows in backwards for pk in reversed(rows)] == [
        "loan-0", "loan-1", "loan-2", "loan-3", "loan-4", "new", "new", "new",
    ]  # fmt: skip


def test_a_place_of_another_list_or_order_or_a_forged_one_shows_the_first_page(api, signed_in, pages_of_two):
    for number in range(3):
        decide(api, f"loan-{number}")
    browser = signed_in(Role.AUDITOR)
    place = parse_qs(browser.get(DECISIONS).context["cl"].after)["?p"][0]
    assert rows_of(browser, p=place) == ["loan-0"]
    for path, query in [(DECISIONS, {"p": place, "o": "decision_id"}), (AUDIT, {"p": place}), (DECISIONS, {"p": "x"})]:
        answer = browser.get(path, query)
        assert (answer.status_code, answer["Location"]) == (302, f"{path}?e=1")


def test_a_page_has_25_50_or_100_rows(organization, signed_in):
    ApiKey.objects.bulk_create(
        ApiKey(organization=organization, key_id=f"{number:016}", role=Role.SENDER) for number in range(101)
    )
    browser = signed_in(Role.OWNER)
    for asked, shown in [("25", 25), ("50", 50), ("100", 100), ("1000", 50), ("x", 50), ("", 50)]:
        assert len(rows_of(browser, "/admin/accounts/apikey/", rows=asked)) == shown


def test_decisions_without_a_time_come_last_in_both_orders(api, signed_in):
    decide(api, "early", decided_at="2026-01-02T00:00:00Z")
    decide(api, "unknown")
    decide(api, "late", decided_at="2026-02-02T00:00:00Z")
    browser = signed_in(Role.AUDITOR)
    for order, expected in (("decided_at", ["early", "late"]), ("-decided_at", ["late", "early"])):
        shown = browser.get(DECISIONS, {"o": order}).context["cl"].result_list
        assert [row.decision_id for row in shown] == [*expected, "unknown"]


def test_a_filtered_list_offers_only_orders_of_an_index(api, signed_in):
    decide(api, "a", outcome={"action": "denied"}, decided_at="2026-01-02T00:00:00Z")
    browser = signed_in(Role.AUDITOR)
    orders = {}
    for query in ("", "action=denied", "decided_at__from=2020-01-01", "q=a"):
        shown = browser.get(f"{DECISIONS}?{query}").content.decode()
        orders[query] = re.findall(r'href="\?[^"]*o=-?(\w+)', shown.partition('id="result_list"')[2])
    whole = ["decision_id", "received_at", "decided_at"]
    assert orders == {
        "": whole,
        "action=denied": ["received_at"],
        "decided_at__from=2020-01-01": ["decided_at"],
        "q=a": whole,
    }


# ── place ──


def test_a_person_returns_to_the_list_as_they_left_it(api, signed_in, pages_of_two):
    for number in range(5):
        decide(api, f"loan-{number}", outcome={"action": "denied"})
    browser = signed_in(Role.OWNER)
    address = linked(browser.get(DECISIONS, {"action": "denied", "o": "received_at"}), "next")
    shown = browser.get(address)
    assert shown.context["cl"].before
    page = f"{DECISIONS}{shown.context['cl'].result_list[0].pk}/change/"
    for below in (page, page.replace("change", "reconsider")):
        assert trail(browser.get(below))[0] == ("Decisions", same_query(address)), "on every page below"
    assert trail(browser.get(f"{AUDIT}{AuditEvent.objects.latest('pk').pk}/change/")) == [("Audit", AUDIT)]
    browser.get(DECISIONS)
    assert trail(browser.get(page)) == [("Decisions", DECISIONS)], "the menu shows the whole list again"


def test_an_action_that_ends_in_the_list_returns_to_its_place(api, signed_in):
    person = add_person(api.organization, Role.EDITOR, "person@bank.example")
    browser = signed_in(Role.OWNER)
    path = "/admin/accounts/member/"
    browser.get(path, {"role": "editor", "o": "person"})
    answer = browser.submit(f"{path}{person.pk}/change/", f"{path}{person.pk}/remove/")
    assert (answer.status_code, answer["Location"]) == (302, f"{path}?role=editor&o=person")


def test_a_place_is_of_one_person_in_one_organization(api, signed_in):
    decide(api, "loan-1")
    page = f"{DECISIONS}{Decision.objects.get().pk}/change/"
    browser, other = signed_in(Role.OWNER), signed_in(Role.AUDITOR)
    browser.get(DECISIONS, {"q": "loan-1"})
    other.cookies["drs_place"] = browser.cookies["drs_place"].value
    assert trail(browser.get(page)) == [("Decisions", f"{DECISIONS}?q=loan-1")]
    assert trail(other.get(page)) == [("Decisions", DECISIONS)]


def test_the_path_to_a_notice_names_the_list_that_the_person_left(api, signed_in):
    notice = Belongings(api).notice()
    queue, browser = "/admin/notices/notice/", signed_in(Role.OWNER)
    for query, label in [("queue=approved", "To deliver"), ("queue=in_review", "To do")]:
        browser.get(f"{queue}?{query}")
        assert trail(browser.get(f"{queue}{notice}/change/")) == [(label, f"{queue}?{query}")]


def trail(answer):
    """Return the label and address of each link above a page."""
    links = re.search(r'<nav class="breadcrumbs".*?</nav>', answer.content.decode(), re.DOTALL)[0]
    return [(label, unescape(address)) for address, label in re.findall(r'<a href="(.*?)">(.*?)</a>', links)]


def same_query(address):
    """Return an address as a page writes it."""
    path, _, query = address.partition("?")
    return f"{path}?{QueryDict(query).urlencode()}"
