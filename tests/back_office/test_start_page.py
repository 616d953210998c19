"""The start page: needs, urgent first, and charts, which the apps register."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.back_office import Bar, Chart, Need, capped_count, lists, start_page
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
    placed = {"needs": [], "charts": []}
    monkeypatch.setattr(start_page, "_NEEDS", [lambda request, organization: placed["needs"]])
    monkeypatch.setattr(start_page, "_CHARTS", [lambda request, organization: placed["charts"]])
    return placed


def section(browser, name):
    page = browser.get("/admin/").content.decode()
    return re.search(rf'<section class="{name}".*?</section>', page, re.DOTALL).group()


def test_needs_with_a_count_are_listed_urgent_first(sources, signed_in):
    sources["needs"] = [Need("late things", "late thing", 1, "/late/"), Need("no things", "", 0, "/no/"),
                        Need("burning <things>", "", 1001, "/burning/", urgent=True)]  # fmt: skip
    shown = section(signed_in(), "needs")
    assert shown.index("burning &lt;things&gt;") < shown.index("late thing<")
    assert "no things" not in shown
    assert "<strong>1,000+</strong>" in shown
    assert shown.count("urgent</span>") == 1
    assert 'href="/burning/"' in shown


def test_the_page_says_so_if_nothing_needs_attention(sources, signed_in):
    assert "Nothing at the moment." in section(signed_in(), "needs")


def test_the_menu_shows_pages_by_task_that_the_role_may_see(signed_in):
    shown = signed_in(Role.AUDITOR).get("/admin/").content.decode()
    menu = re.search(r'<nav id="menu".*?</nav>', shown, re.DOTALL).group()
    assert re.findall(r"<h2>(.*?)</h2>", menu) == ["Work", "Settings"]
    assert re.findall(r'<a href="[^"]*"[^>]*>([^<]*)<', menu) == [
        "To do", "To deliver", "Decisions", "Reports", "Organization", "People", "Notices and packs", "Phrasebook",
        "Custody", "Retention", "Audit",
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


def test_decisions_are_counted_by_the_day_of_their_receipt(api, other_api):
    for number, days in enumerate([0, 0, 1, 13, 14]):
        api.ingest({"decision_id": f"d{number}"})
        with unguarded():
            Decision.objects.filter(decision_id=f"d{number}").update(received_at=timezone.now() - timedelta(days=days))
    other_api.ingest({"decision_id": "other"})
    chart = next(back_office.charts(_OwnerRequest(api), api.organization))
    assert [bar.value for bar in chart.bars] == [1, *[0] * 11, 1, 2]


def test_a_chart_without_decisions_has_no_bars(api):
    assert not any(chart.bars for chart in back_office.charts(_OwnerRequest(api), api.organization))


class _OwnerRequest:
    """A request with the attributes that the sources of charts need."""

    def __init__(self, api):
        self.user, self.session, self.META = api.organization.members.get().user, {}, {}


def test_the_chart_of_reviews_counts_the_newest(api, monkeypatch):
    monkeypatch.setattr(back_office, "_NEWEST", 2)
    api.ingest({"decision_id": "loan-1", "system": {"name": "Scorer"}})
    for outcome in ("overturned", "upheld", "upheld"):
        reconsider(api, outcome=outcome)
    _, chart = back_office.charts(_OwnerRequest(api), api.organization)
    assert [(bar.label, bar.value, bar.note) for bar in chart.bars] == [("Scorer", 0, "% of 2")]


@pytest.mark.parametrize(("seconds", "is_shown"), [(30, False), (90, True)])
def test_a_record_that_waits_for_its_vault_for_over_a_minute_needs_attention(api, signed_in, seconds, is_shown):
    api.ingest({"decision_id": "x"})
    since = timezone.now() - timedelta(seconds=seconds)
    with unguarded():
        Entry.objects.update(state=Entry.State.RESERVED, received_at=since)
    shown = section(signed_in(Role.AUDITOR), "needs")
    assert ("record sealed, but not in its vault" in shown) == is_shown


def test_needs_of_another_organization_are_not_shown(api, other_api, signed_in, runner):
    other_api.ingest({"decision_id": "x"})
    with unguarded():
        Entry.objects.update(state=Entry.State.RESERVED, received_at=timezone.now() - timedelta(hours=1))
    assert "record sealed" not in section(signed_in(), "needs")
    assert "What needs attention" not in runner.get("/admin/").content.decode(), "nothing is picked yet"
    pick(runner, other_api.organization)
    assert "record sealed" in section(runner, "needs")
