"""The start page: first steps, needs, what came in and went out, and charts."""

import itertools
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.back_office import Bar, Chart, Need, capped_count, flows, lists, start_page
from accounts.models import AuditEvent
from accounts.roles import Role
from custody.models import Entry
from decisions import back_office
from decisions.models import Decision
from tests.back_office.conftest import pick
from tests.reconsiderations.conftest import reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def sources(monkeypatch):
    """Replace the needs and charts of the apps by those of the test."""
    placed = {"needs": [], "flows": [], "charts": []}
    monkeypatch.setattr(start_page, "_NEEDS", [lambda request, organization: placed["needs"]])
    monkeypatch.setattr(start_page, "_FLOWS", [lambda request, organization: placed["flows"]])
    monkeypatch.setattr(start_page, "_CHARTS", [lambda request, organization: placed["charts"]])
    return placed


def section(browser, name, title=""):
    """Return a section of the start page by its class, and by its title if there are several."""
    sections = re.findall(r"<section.*?</section>", browser.get("/admin/").content.decode(), re.DOTALL)
    return next(
        (text for text in sections if re.match(rf'<section class="[^"]*\b{name}\b', text) and title in text), ""
    )


def test_needs_with_a_count_are_listed_urgent_first_and_your_work_before_the_service(sources, signed_in):
    sources["needs"] = [
        Need("broken parts", "broken part", 2, "/broken/", urgent=True),
        Need("late things", "late thing", 1, "/late/", is_work=True),
        Need("no things", "", 0, "/no/", is_work=True),
        Need("burning <things>", "", 1001, "/burning/", urgent=True, is_work=True),
    ]
    browser = signed_in()
    work = section(browser, "needs", "Your work")
    assert re.findall(r"<span>(.*?)</span>", work) == ["burning &lt;things&gt;", "late thing"]
    assert "<strong>1,000+</strong>" in work
    assert work.count("urgent</span>") == 1
    assert 'href="/burning/"' in work
    assert "broken parts" in section(browser, "needs", "Needs attention")
    page = browser.get("/admin/").content.decode()
    assert page.index("Your work") < page.index("Needs attention")


def test_the_page_says_so_if_nothing_waits(sources, signed_in):
    browser = signed_in()
    assert "Nothing waits for you." in section(browser, "needs", "Your work")
    assert "Needs attention" not in browser.get("/admin/").content.decode()


def test_the_menu_shows_pages_by_task_that_the_role_may_see(signed_in):
    shown = signed_in(Role.AUDITOR).get("/admin/").content.decode()
    menu = re.search(r'<nav id="menu".*?</nav>', shown, re.DOTALL).group()
    assert re.findall(r"<h2>(.*?)</h2>", menu) == ["Work", "Settings"]
    assert re.findall(r'<a href="[^"]*"[^>]*>([^<]*)<', menu) == [
        "To do", "To deliver", "Decisions", "Reports", "Organization", "People", "Notices and packs", "Phrasebook",
        "Mappings", "Custody", "Retention", "Audit",
    ]  # fmt: skip


def test_the_address_of_an_app_leads_to_the_start_page(signed_in):
    assert signed_in().get("/admin/accounts/")["Location"] == "/admin/"


def test_a_chart_is_a_table_with_bars_in_proportion_to_their_values(sources, signed_in):
    bars = [Bar("one", 5, "of 9"), Bar("<two>", 10), Bar("three", 0)]
    sources["charts"] = [Chart("Things", bars, "/things/", "How many."), Chart("None", [], "/none/")]
    shown = section(signed_in(), "chart-card")
    assert re.findall(r'class="bar" width="([\d.]+)"', shown) == ["50.0", "100.0", "0.0"]
    assert "5 of 9" in shown
    assert "&lt;two&gt;" in shown
    assert "style=" not in shown
    assert "None" not in shown


def test_a_chart_of_shares_is_drawn_against_the_whole():
    assert [length for _, length in Chart("", [Bar("a", 25)], "", full=100).drawn()] == [25]


@pytest.mark.parametrize("rows", [0, 2, 3, 4, 9])
def test_a_capped_count_stops_one_above_its_limit(rows, organization, monkeypatch):
    monkeypatch.setattr(lists, "MAX_ROWS", 3)
    before = AuditEvent.objects.latest("pk").pk
    for number in range(rows):
        AuditEvent.objects.create(organization=organization, verb="x", object_id=number)
    assert capped_count(AuditEvent.objects.filter(pk__gt=before)) == min(rows, 4)


@pytest.fixture
def received(api, other_api):
    """Return a function that ingests a decision received some days ago."""
    other_api.ingest({"decision_id": "other"})
    numbers = itertools.count()

    def make(days):
        number = next(numbers)
        assert api.ingest({"decision_id": f"d{number}"}).status_code == 201
        with unguarded():
            rows = Decision.objects.filter(decision_id=f"d{number}")
            rows.update(received_at=timezone.now() - timedelta(days=days))

    return make


def flow(browser, title="Decisions received"):
    """Return the sentence of a flow, or the counts of its days."""
    shown = section(browser, "chart-card", title)
    return re.findall(r'class="value">(.*?)<', shown) or re.search(r"<p>\s*(.*?)\s*</p>", shown, re.DOTALL).group(1)


def test_what_came_in_is_columns_from_the_first_day_with_anything_or_a_sentence(received, signed_in, monkeypatch):
    browser = signed_in(Role.AUDITOR)
    assert flow(browser) == "None yet."
    assert flow(browser, "Letters sent") == "None yet."
    received(14)
    assert flow(browser) == "None in the last 14 days."
    received(0)
    assert flow(browser) == "1 today."
    received(0)
    assert flow(browser) == "2 today."
    received(3)
    flows.forget()
    assert flow(browser) == ["1", "0", "0", "2"]
    received(13)
    monkeypatch.setattr(flows, "_MAX_TODAY", 1)
    flows.forget()
    assert flow(browser) == ["1", *"000000000", "1", "0", "0", "1+"]


def test_counts_of_past_days_are_remembered(received, signed_in):
    browser = signed_in(Role.AUDITOR)
    received(3)
    received(2)
    assert flow(browser) == ["1", "1", "0", "0"]
    received(3)
    received(0)
    assert flow(browser) == ["1", "1", "0", "1"]


# ── the first steps ──


def steps(browser):
    """Return whether each first step is done."""
    return ["done" in step for step in re.findall(r"<li(.*?)>", section(browser, "first-steps"))]


def test_a_first_step_is_done_with_the_first_record_or_its_button_and_not_by_reading(api, signed_in):
    browser = signed_in(Role.EDITOR)
    assert steps(browser) == [False, False, False]
    assert "/v1/" not in section(browser, "first-steps")
    api.ingest({"decision_id": "loan-1"})
    assert steps(browser) == [True, False, False]
    record = Decision.objects.get().pk
    assert browser.get(f"/admin/decisions/decision/{record}/change/").status_code == 200
    assert steps(browser) == [True, False, False]
    browser.submit("/admin/", "/account/first-steps/opened/")
    assert steps(browser) == [True, True, False]
    assert browser.get("/v1/auth/onboarding").json()["opened"] is True
    assert steps(signed_in(Role.APPROVER)) == [True, False, False]
    browser.submit("/admin/", "/account/first-steps/verified/")
    assert steps(browser) == [True, True, True]


class _OwnerRequest:
    """A request with the attributes that the sources of charts need."""

    def __init__(self, api):
        self.user, self.session, self.META = api.organization.members.get().user, {}, {}


def test_the_chart_of_reviews_counts_the_newest(api, monkeypatch):
    monkeypatch.setattr(back_office, "_NEWEST", 2)
    api.ingest({"decision_id": "loan-1", "system": {"name": "Scorer"}})
    for outcome in ("overturned", "upheld", "upheld"):
        reconsider(api, outcome=outcome)
    (chart,) = back_office.charts(_OwnerRequest(api), api.organization)
    assert [(bar.label, bar.value, bar.note) for bar in chart.bars] == [("Scorer", 0, "% of 2")]


@pytest.mark.parametrize(("seconds", "is_shown"), [(30, False), (90, True)])
def test_a_record_that_waits_for_its_vault_for_over_a_minute_needs_attention(api, signed_in, seconds, is_shown):
    api.ingest({"decision_id": "x"})
    since = timezone.now() - timedelta(seconds=seconds)
    with unguarded():
        Entry.objects.update(state=Entry.State.RESERVED, received_at=since)
    shown = section(signed_in(Role.AUDITOR), "needs", "Needs attention")
    assert ("record sealed, but not in its vault" in shown) == is_shown


def test_needs_of_another_organization_are_not_shown(api, other_api, signed_in, runner):
    other_api.ingest({"decision_id": "x"})
    with unguarded():
        Entry.objects.update(state=Entry.State.RESERVED, received_at=timezone.now() - timedelta(hours=1))
    assert "record sealed" not in section(signed_in(), "needs", "Needs attention")
    assert "Your work" not in runner.get("/admin/").content.decode(), "nothing is picked yet"
    pick(runner, other_api.organization)
    assert "record sealed" in section(runner, "needs", "Needs attention")
