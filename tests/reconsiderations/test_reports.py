"""Reports: how often an organization's reviews overturn decisions, and how long they take."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import User
from accounts.roles import MEMBER_ROLES
from decisions import review_reports
from tests.docs.documents import CHECKOUT
from tests.people import sign_in
from tests.reconsiderations.conftest import reconsider
from tests.support.kept_rows import make_once
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
URL = "/admin/decisions/decision/reports/"
APPS = ("accounts", "config", "custody", "decisions", "notices")
DAY = timedelta(days=1)
NOW = datetime.now(UTC).replace(microsecond=0)


def review(api, decision_id, *, after, outcome="upheld", authority="credit officer", of=None):
    """Record a review `after` NOW."""
    with time_machine.travel(NOW + after, tick=False):
        answer = reconsider(api, of or decision_id, outcome=outcome, reviewer_authority=authority)
    assert answer.status_code == 201
    return answer.json()["decision_id"]


def decide(api, decision_id, *, system=None, decided=NOW):
    record = {"decision_id": decision_id}
    if system is not None:
        record["system"] = {"name": system}
    if decided:
        record["decided_at"] = decided.isoformat()
    with time_machine.travel(NOW, tick=False):
        assert api.ingest(record).status_code == 201


@pytest.fixture
def reviewed(api):
    """Record four reviews: two of the Scorer (one overturned), one of the Ranker (modified), one of no named system."""

    def make():
        decide(api, "a", system="Scorer", decided=NOW - 4 * DAY)
        decide(api, "b", system="Scorer")
        decide(api, "c", system="Ranker")
        decide(api, "d", decided=None)
        review(api, "a", after=2 * DAY, outcome="overturned")
        review(api, "b", after=2 * DAY)
        review(api, "c", after=DAY, outcome="modified", authority="medical director")
        review(api, "d", after=3 * DAY, outcome="remanded", authority="")

    make_once("reviewed", make)


def lines(organization, grouping):
    groups = review_reports.reconsiderations(organization.id, grouping)
    return [(g.name, g.reviews, g.overturned, round(g.mean_days, 3)) for g in groups]


def test_by_system_the_time_runs_from_the_decision_or_its_receipt(organization, reviewed):
    groups = lines(organization, "system")
    assert groups[0] == ("Scorer", 2, 1, 4.0), "most reviews first"
    assert sorted(groups) == [("Ranker", 1, 1, 1.0), ("Scorer", 2, 1, 4.0), ("not named", 1, 0, 3.0)]


def test_by_outcome(organization, reviewed):
    assert lines(organization, "outcome") == [
        ("modified", 1, 1, 1.0),
        ("overturned", 1, 1, 6.0),
        ("remanded", 1, 0, 3.0),
        ("upheld", 1, 0, 2.0),
    ]


def test_by_the_reviewers_authority(organization, reviewed):
    groups = {name: counts for name, *counts in lines(organization, "authority")}
    assert groups == {"credit officer": [2, 1, 4.0], "medical director": [1, 1, 1.0], "not named": [1, 0, 3.0]}


def test_the_rate_counts_reviews_not_decisions(organization, api, reviewed):
    first = review(api, "b", after=3 * DAY, outcome="overturned")
    review(api, "b", of=first, after=8 * DAY, outcome="overturned")
    scorer = next(g for g in review_reports.reconsiderations(organization.id, "system") if g.name == "Scorer")
    assert (scorer.reviews, scorer.overturned, scorer.overturn_rate) == (4, 3, 0.75)
    assert scorer.mean_days == pytest.approx((6 + 2 + 3 + 8) / 4), "each from the decision at the start of its chain"


def test_another_organizations_reviews_are_not_counted(organization, other_api, reviewed):
    before = lines(organization, "system")
    decide(other_api, "a", system="Scorer")
    review(other_api, "a", after=DAY, outcome="overturned")
    assert lines(organization, "system") == before
    assert lines(other_api.organization, "system") == [("Scorer", 1, 1, 1.0)]


def test_the_receipt_counts_if_the_time_of_decision_is_later(organization, api):
    decide(api, "a", system="Scorer", decided=NOW + 10 * DAY)
    review(api, "a", after=2 * DAY)
    assert lines(organization, "system") == [("Scorer", 1, 0, 2.0)]


def test_a_report_takes_one_query_for_any_number_of_reviews(organization, api, reviewed, django_assert_num_queries):
    for number in range(5):
        for grouping in review_reports.GROUPINGS:
            with django_assert_num_queries(1):
                review_reports.reconsiderations(organization.id, grouping)
        decide(api, f"e{number}", system=f"System {number}")
        review(api, f"e{number}", after=DAY, outcome=f"outcome {number}", authority=f"authority {number}")


# ── the page ──


@pytest.mark.once
def test_every_role_reads_only_the_reports_of_its_organization(reviewed, other_api, signed_in, subtests):
    decide(other_api, "x", system="canary-6f3a")
    review(other_api, "x", after=DAY, authority="canary-6f3a", outcome="canary-6f3a")
    for role in MEMBER_ROLES:
        with subtests.test(role=role):
            browser = signed_in(role)
            for grouping in review_reports.GROUPINGS:
                for query in ({"by": grouping}, {"by": grouping, "format": "csv"}):
                    answer = browser.get(URL, query)
                    assert answer.status_code == 200
                    assert "canary-6f3a" not in answer.content.decode()


@pytest.mark.once
def test_a_report_requires_a_session_and_an_organization(client, reviewed):
    runner = User.objects.create(email="runner@platform.example", is_superuser=True)
    answer = sign_in(runner.email).get(URL)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert client.get(URL).status_code == 302


@pytest.mark.once
def test_the_page_shows_rate_and_time_as_chart_and_table(reviewed, signed_in):
    shown = signed_in().get(URL).content.decode()
    for part in ('<svg class="chart"', "50 %", "100 %", "0 %", "4.0 days", "Scorer", "not named"):
        assert part in shown


def test_the_page_counts_ninety_days_unless_the_address_names_another_period(api, signed_in):
    decide(api, "a", system="Old scorer", decided=NOW - 200 * DAY)
    review(api, "a", after=-100 * DAY)
    browser = signed_in()
    assert "No reconsiderations in this period." in browser.get(URL).content.decode()
    for days in ("365", "all"):
        assert "Old scorer" in browser.get(URL, {"days": days}).content.decode()
    assert [cells[:2] for cells in exported(browser, days="365")[1:]] == [["Old scorer", "1"]]
    assert browser.get(URL, {"days": "-1"}).status_code == 404


@pytest.mark.once
def test_without_reviews_the_page_says_so_and_has_no_chart(organization, signed_in):
    shown = signed_in().get(URL).content.decode()
    assert "No reconsiderations in this period." in shown
    assert 'class="chart"' not in shown


@pytest.mark.once
def test_an_unknown_grouping_is_a_404(organization, signed_in, subtests):
    browser = signed_in()
    for by in ("", "nothing", "review_outcome", "__class__"):
        with subtests.test(by=by):
            assert browser.get(URL, {"by": by}).status_code == 404


@pytest.mark.once
def test_a_post_to_the_report_changes_nothing(organization, signed_in, reviewed):
    before = lines(organization, "system")
    browser = signed_in()
    browser.submit(URL.replace("reports/", ""), URL)
    assert lines(organization, "system") == before


@pytest.mark.once
def test_names_from_records_are_text_on_the_page(api, signed_in):
    decide(api, "a", system="<script>alert(1)</script>")
    review(api, "a", after=DAY, outcome='"><img src=x onerror=alert(1)>')
    browser = signed_in()
    for grouping in ("system", "outcome"):
        shown = browser.get(URL, {"by": grouping}).content.decode()
        assert "<script>alert" not in shown
        assert "<img src=x" not in shown


def exported(browser, grouping="system", **query):
    answer = browser.get(URL, {"by": grouping, "format": "csv", **query})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="reconsiderations-by-{grouping}.csv"'
    return list(csv.reader(io.StringIO(answer.content.decode(), newline="")))


@pytest.mark.once
def test_every_cell_of_the_csv_is_quoted(api, signed_in):
    decide(api, "a", system="Scorer;=1+1\t=1+1")
    review(api, "a", after=DAY)
    shown = signed_in().get(URL, {"by": "system", "format": "csv"}).content.decode()
    head, line = shown.splitlines()
    assert head == '"System","reviews","overturned or modified","rate","mean days"'
    assert line == '"Scorer;=1+1\t=1+1","1","0","0.0000","1.00"'


@pytest.mark.once
def test_only_one_module_writes_csv():
    """All other modules use its writer."""
    sources = {path: path.read_text() for app in APPS for path in (CHECKOUT / app).rglob("*.py")}
    assert len(sources) > 100
    writing = {path.name for path, source in sources.items() if re.search(r"csv\.(Dict)?[wW]riter|text/csv", source)}
    assert writing == {"spreadsheets.py"}


@pytest.mark.once
def test_the_csv_has_the_pages_numbers(reviewed, signed_in):
    head, *rows = exported(signed_in())
    assert head == ["System", "reviews", "overturned or modified", "rate", "mean days"]
    assert ["Scorer", "2", "1", "0.5000", "4.00"] in rows
    assert len(rows) == 3


FORMULAS = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1", '=HYPERLINK("http://x.example")']


@pytest.mark.once
def test_no_name_from_a_record_is_a_formula_for_a_spreadsheet(api, signed_in, subtests):
    browser = signed_in()
    for name in FORMULAS:
        with subtests.test(name=name), undone():
            decide(api, "a", system=name)
            review(api, "a", after=DAY)
            _, (cell, *_) = exported(browser)
            assert cell == f"'{name}"


@pytest.mark.once
def test_other_names_are_unchanged_in_the_csv(api, signed_in, subtests):
    browser = signed_in()
    for name in ("a,b", 'say "a"', "two\nlines", "עברית", "a=1"):
        with subtests.test(name=name), undone():
            decide(api, "a", system=name)
            review(api, "a", after=DAY)
            _, (cell, *_) = exported(browser)
            assert cell == name
