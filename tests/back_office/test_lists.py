"""Lists: capped counts, a constant number of queries, filters and search."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from accounts import audit
from accounts.back_office import list_filters, lists
from accounts.models import AuditEvent
from accounts.roles import Role
from decisions.models import Decision
from tests.people import add_person
from tests.reconsiderations.conftest import REVIEW, reconsider
from tests.statements import statements
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db
DECISIONS = "/admin/decisions/decision/"
AUDIT = "/admin/accounts/auditevent/"


def rows_of(browser, path=DECISIONS, **query):
    """Return the rows that a list shows for a query, sorted."""
    answer = browser.get(path, query)
    assert answer.status_code == 200, query
    return sorted(str(row) for row in answer.context["cl"].result_list)


def headings(shown):
    """Return the headings of a list's columns."""
    return [strip_tags(heading) for heading in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', shown)]


def decide(api, decision_id, **record):
    assert api.ingest({"decision_id": decision_id, **record}).status_code == 201


# ── cost ──


LISTS = [DECISIONS, "/admin/decisions/reconsideration/", "/admin/custody/entry/", AUDIT, "/admin/accounts/member/",
         "/admin/accounts/apikey/", "/admin/"]  # fmt: skip


@pytest.mark.once
def test_a_list_takes_the_same_queries_for_one_row_and_for_ten(api, signed_in, subtests):
    def more(numbers):
        for number in numbers:
            decide(api, f"loan-{number}", outcome={"action": f"action {number}"}, system={"name": f"system {number}"})
            reconsider(api, f"loan-{number}", outcome=f"outcome {number}", reviewer=f"reviewer {number}")
            api.post("/v1/auth/api-keys", b'{"name": "a key"}')
            add_person(api.organization, Role.EDITOR, f"person{number}@bank.example")

    def queries(path):
        with statements() as captured:
            assert browser.get(path).status_code == 200
        return len(captured)

    more([0])
    browser = signed_in(Role.OWNER)
    with_one = {}
    for path in LISTS:
        queries(path)  # fills the caches of the process
        with_one[path] = queries(path)
    more(range(1, 10))
    for path in LISTS:
        with subtests.test(path):
            assert queries(path) == with_one[path] <= (12 if path == "/admin/" else 20)


@pytest.fixture
def capped_at_three(monkeypatch):
    monkeypatch.setattr(lists, "MAX_ROWS", 3)


def test_a_count_reads_only_up_to_its_limit(api, signed_in, capped_at_three):
    browser = signed_in(Role.AUDITOR)
    for number in range(6):
        decide(api, f"loan-{number}")
        shown = browser.get(DECISIONS).content.decode()
        assert ("3+ decisions" in shown) == (number + 1 > 3)
    with statements() as captured:
        browser.get(DECISIONS)
    counts = [query["sql"] for query in captured if "COUNT(" in query["sql"] and "notices_notice" not in query["sql"]]
    assert len(counts) == 1
    assert "LIMIT 4" in counts[0]


# ── search ──


@pytest.fixture
def four(api):
    for decision_id, reference in [("loan-1", "application 7"), ("loan-10", "application 70"), ("LOAN_1", "a%b"),
                                   ("x", "loan-1 again")]:  # fmt: skip
        decide(api, decision_id, subject={"reference": reference})


SEARCHES = [
    ("loan-10", ["loan-10"]),
    ("loan-1", ["loan-1", "loan-10", "x"]),
    (" loan-10 ", ["loan-10"]),
    ("application 7", ["loan-1", "loan-10"]),
    ("application 70", ["loan-10"]),
    ("a%", ["LOAN_1"]),
    ("a_", []),
    ("oan-1", []),
    ("", ["LOAN_1", "loan-1", "loan-10", "x"]),
    ("\x00", ["LOAN_1", "loan-1", "loan-10", "x"]),
]


def test_a_search_finds_the_start_of_an_id_or_a_reference(four, signed_in, subtests):
    browser = signed_in(Role.AUDITOR)
    for asked, expected in SEARCHES:
        with subtests.test(asked=asked, expected=expected):
            assert rows_of(browser, q=asked) == expected


def test_a_search_with_too_many_matches_lists_the_last_in_alphabetical_order(api, signed_in, capped_at_three):
    for number in range(6):
        decide(api, f"loan-{number}")
    browser = signed_in(Role.AUDITOR)
    assert rows_of(browser, q="loan-") == ["loan-2", "loan-3", "loan-4", "loan-5"]
    assert "3+ decisions" in browser.get(DECISIONS, {"q": "loan-"}).content.decode()


def test_a_search_is_case_sensitive_and_exact(four, signed_in, subtests):
    browser = signed_in(Role.AUDITOR)
    for asked in ("LOAN-1", "loan_1", "\U0010ffff", "\ud7ff"):
        with subtests.test(asked=asked):
            assert rows_of(browser, q=asked) == []


def test_a_search_finds_a_record_id(four, signed_in):
    wanted = Decision.objects.get(decision_id="x")
    for spelled in (str(wanted.pk), wanted.pk.hex):
        assert rows_of(signed_in(Role.AUDITOR), q=spelled) == ["x"]


@pytest.mark.once
def test_a_search_without_a_match_says_so_and_links_to_the_whole_list(four, signed_in):
    browser = signed_in(Role.AUDITOR)
    for query in ({"q": "nothing"}, {"action": "nothing"}):
        shown = browser.get(DECISIONS, query).content.decode()
        assert "No decisions match" in shown
        assert 'href="?"' in shown


@pytest.mark.once
def test_an_empty_list_says_where_its_rows_come_from(organization, signed_in):
    browser = signed_in(Role.OWNER)
    assert "No decision has come in yet." in browser.get(DECISIONS).content.decode()
    assert "No invitations yet." in browser.get("/admin/accounts/invite/").content.decode()


# ── filters ──


def test_decisions_are_filtered_by_action_system_and_kind(api, signed_in):
    decide(api, "a", outcome={"action": "denied"}, system={"name": "Scorer"})
    decide(api, "b", outcome={"action": "approved"}, system={"name": "Scorer"})
    decide(api, "c", outcome={"action": "denied"}, system={"name": "Other"})
    recorded = reconsider(api, "a").json()["decision_id"]
    browser = signed_in(Role.AUDITOR)
    assert rows_of(browser, action="denied") == ["a", "c"]
    assert rows_of(browser, action="denied", system_name="Scorer") == ["a"]
    assert rows_of(browser, kind="reconsideration") == [recorded]
    assert rows_of(browser, kind="decision", system_name="Scorer") == ["a", "b"]


def options(shown, name):
    """Return the values and words that a filter offers."""
    form = shown.partition(f'<select id="filter-{name}"')[2].partition("</select>")[0]
    return re.findall(r'<option value="([^"]*)"[^>]*>([^<]*)<', form)


def test_a_filter_offers_all_values_of_its_organization_in_words(api, other_api, signed_in, capped_at_three):
    for number in range(14):
        decide(api, f"d{number:02}", outcome={"action": f"action_{number:02}"})
    decide(api, "again", outcome={"action": "action_03"})
    decide(api, "empty")
    decide(other_api, "theirs", outcome={"action": "theirs"})
    browser = signed_in(Role.AUDITOR)
    offered = options(browser.get(DECISIONS).content.decode(), "action")
    assert offered == [("", "All"), *((f"action_{number:02}", f"Action {number:02}") for number in range(14))]
    assert rows_of(browser, action="action_03") == ["again", "d03"]


def test_a_filter_with_too_many_values_is_a_field(api, signed_in, monkeypatch):
    monkeypatch.setattr(list_filters, "MAX_VALUES", 2)
    for number in range(3):
        decide(api, f"d{number}", outcome={"action": f"a{number}"}, system={"name": f"s{number % 2}"})
    browser = signed_in(Role.AUDITOR)
    shown = browser.get(DECISIONS, {"action": "a1"}).content.decode()
    assert '<input id="filter-action" name="action" value="a1"' in shown
    assert [value for value, _ in options(shown, "system_name")] == ["", "s0", "s1"]
    assert rows_of(browser, action="a1") == ["d1"]


def test_a_filter_offers_the_value_that_is_chosen_though_no_row_has_it(api, signed_in):
    decide(api, "d", outcome={"action": "denied"})
    shown = signed_in(Role.AUDITOR).get(DECISIONS, {"action": "gone"}).content.decode()
    assert '<option value="gone" selected>Gone</option>' in shown


@pytest.mark.once
def test_a_filters_form_keeps_the_other_filters_and_the_search(api, signed_in):
    decide(api, "a", outcome={"action": "denied"})
    answer = signed_in(Role.AUDITOR).get(DECISIONS, {"action": "denied", "q": "a", "rows": "25"})
    form = answer.content.decode().partition('id="filter-system_name"')[0].rpartition("<form")[2]
    assert '<input type="hidden" name="action" value="denied">' in form
    assert '<input type="hidden" name="q" value="a">' in form
    assert '<input type="hidden" name="rows" value="25">' in form


@pytest.fixture
def aged(api):
    """Ingest decisions received up to 30 days ago, each decided ten days before. Return today."""
    today = datetime.combine(timezone.now().astimezone(UTC), datetime.min.time(), UTC)
    for days in (0, 6, 7, 29, 30):
        decide(api, f"d{days:02}")
        moment = today - timedelta(days=days)
        rows = Decision.objects.filter(decision_id=f"d{days:02}")
        with unguarded():
            rows.update(received_at=moment, decided_at=moment - timedelta(days=10))
    return today.date()


LAST_DAYS = [
    ({"received_at__days": "1"}, ["d00"]),
    ({"received_at__days": "7"}, ["d00", "d06"]),
    ({"received_at__days": "30"}, ["d00", "d06", "d07", "d29"]),
    ({"decided_at__days": "30"}, ["d00", "d06", "d07"]),
    ({"received_at__days": "7", "decided_at__days": "7"}, []),
]


def test_decisions_are_filtered_by_the_last_days(aged, signed_in, subtests):
    browser = signed_in(Role.AUDITOR)
    for query, expected in LAST_DAYS:
        with subtests.test(query=query, expected=expected):
            assert rows_of(browser, **query) == expected


def test_a_filter_by_days_includes_both_days(aged, signed_in):
    browser = signed_in(Role.AUDITOR)
    first, last = str(aged - timedelta(days=7)), str(aged - timedelta(days=6))
    assert rows_of(browser, received_at__from=first, received_at__to=last) == ["d06", "d07"]
    assert rows_of(browser, received_at__from=last) == ["d00", "d06"]
    assert rows_of(browser, received_at__to=first) == ["d07", "d29", "d30"]


@pytest.mark.once
def test_an_invalid_day_redirects_to_the_whole_list(four, signed_in, subtests):
    browser = signed_in(Role.AUDITOR)
    for name in ("received_at__from", "decided_at__to"):
        for value in ("yesterday", "2026-02-30", "9999-12-31", "\x00", "2026-1"):
            with subtests.test(name=name, value=value):
                answer = browser.get(DECISIONS, {name: value})
                assert (answer.status_code, answer["Location"]) == (302, f"{DECISIONS}?e=1")


def test_a_nul_in_a_filter_causes_no_fault(four, signed_in, subtests):
    browser = signed_in(Role.AUDITOR)
    for name in ("action", "received_at__days", "kind"):
        with subtests.test(name):
            assert browser.get(DECISIONS, {name: "\x00"}).status_code == 302


def test_the_audit_trail_is_filtered_by_verb_actor_object_and_time(organization, signed_in):
    browser = signed_in(Role.AUDITOR)
    for verb, label, object_id in [("a.done", "ann", "1"), ("a.done", "bob", "2"), ("b.done", "ann", "2")]:
        audit.record(verb, actor=audit.Actor("member", label, label), organization_id=organization.pk,
                     object_kind="thing", object_id=object_id)  # fmt: skip
    assert rows_of(browser, AUDIT, verb="a.done") == ["a.done thing 1", "a.done thing 2"]
    assert rows_of(browser, AUDIT, actor_label="ann") == ["a.done thing 1", "b.done thing 2"]
    assert rows_of(browser, AUDIT, object_kind="thing", object_id="2") == ["a.done thing 2", "b.done thing 2"]
    assert rows_of(browser, AUDIT, object_kind="thing", at__to="2020-01-01") == []
    assert AuditEvent.objects.count() > 3


def test_the_audit_trail_filters_objects_by_a_field_instead_of_a_list_of_ids(organization, signed_in):
    shown = signed_in(Role.AUDITOR).get(AUDIT).content.decode()
    form = shown.partition('data-filter-title="about (id)"')[2].partition("</details>")[0]
    assert '<input id="filter-object_id"' in form
    assert "<select" not in form
    assert "field-object_id" not in shown


@pytest.mark.once
def test_lists_pages_and_filters_use_the_same_labels(api, signed_in):
    browser = signed_in(Role.OWNER)
    event = AuditEvent.objects.filter(organization=api.organization).latest("pk")
    shown = browser.get(AUDIT).content.decode()
    page = browser.get(f"{AUDIT}{event.pk}/change/").content.decode()
    assert re.findall(r"<summary>(.*?)</summary>", shown)[1:] == ["Time", "Event", "By", "About", "About (id)"]
    assert headings(shown) == ["Time", "Event", "By", "About"]
    assert re.findall(r"<dt>(.*?)</dt>", page)[:3] == ["Time", "Event", "By"]
    assert re.findall(r"<summary>(.*?)</summary>", browser.get(DECISIONS).content.decode())[1:] == [
        "Kind", "Received", "Decided", "Action", "System name",
    ]  # fmt: skip


@pytest.mark.once
def test_an_event_links_to_its_object_if_the_object_exists_and_may_be_seen(api, signed_in):
    decide(api, "loan-1")
    reconsider(api, "loan-1")
    person = add_person(api.organization, Role.EDITOR, "person@bank.example")
    about = {
        "record": f"/admin/decisions/decision/{Decision.objects.get(decision_id='loan-1').pk}/change/",
        "key": f"/admin/accounts/apikey/{api.organization.api_keys.get().pk}/change/",
        "member": f"/admin/accounts/member/{person.pk}/change/",
    }
    events = {
        kind: AuditEvent.objects.filter(organization=api.organization, object_kind=kind).latest("pk") for kind in about
    }
    links = {role: {} for role in (Role.OWNER, Role.AUDITOR)}
    for role, addresses in links.items():
        browser = signed_in(role)
        for kind, event in events.items():
            shown = browser.get(f"{AUDIT}{event.pk}/change/").content.decode()
            addresses[kind] = re.findall(r'<p class="links"><a href="(.*?)">', shown)
    assert links[Role.OWNER] == {kind: [address] for kind, address in about.items()}
    assert links[Role.AUDITOR] == {"record": [about["record"]], "key": [], "member": []}
    person.delete()
    shown = signed_in(Role.ADMIN).get(f"{AUDIT}{events['member'].pk}/change/").content.decode()
    assert "Show what this event is about" not in shown


def test_the_list_of_reconsiderations_shows_how_long_they_took(api, signed_in):
    decide(api, "loan-1", decided_at="2026-01-02T03:04:05Z")
    decide(api, "loan-2")
    recorded = reconsider(api, "loan-1").json()["decision_id"]
    reconsider(api, recorded, outcome="upheld", reviewer="B. Reader")
    with unguarded():
        Decision.objects.filter(decision_id="loan-1").update(received_at=datetime(2026, 1, 3, tzinfo=UTC))
        Decision.objects.filter(decision_id=recorded).update(received_at=datetime(2026, 1, 7, 3, 4, 5, tzinfo=UTC))
    browser = signed_in(Role.AUDITOR)
    path = "/admin/decisions/reconsideration/"
    assert rows_of(browser, path, review_outcome="overturned") == [recorded]
    assert len(rows_of(browser, path, q="loan-1")) == 2
    shown = browser.get(path, {"review_outcome": "overturned"}).content.decode()
    for part in ("loan-1", "approved", REVIEW["reviewer"], REVIEW["reviewer_authority"], "5.0 days"):
        assert part in shown
    record = Decision.objects.get(decision_id=recorded)
    answer = browser.get(f"{path}{record.pk}/change/")
    assert answer["Location"] == f"/admin/decisions/decision/{record.pk}/change/"


WITH_A_SEARCH = ["notices/notice", "notices/phrase", "accounts/member", "accounts/invite", "decisions/decision"]


def test_a_search_for_thousands_of_words_is_answered(signed_in, subtests):
    browser = signed_in()
    for rows in WITH_A_SEARCH:
        with subtests.test(rows=rows):
            assert browser.get(f"/admin/{rows}/", {"q": "a " * 2000}).status_code == 200


@pytest.mark.once
def test_filters_are_chips_that_can_be_removed_one_by_one(api, signed_in):
    decide(api, "loan-1", outcome={"action": "not_denied"}, system={"name": "scorer-2"})
    browser = signed_in(Role.AUDITOR)
    shown = browser.get(DECISIONS, {"action": "not_denied", "system_name": "scorer-2"}).content.decode()
    chips = re.search(r'<ul class="chips">.*?</ul>', shown, re.DOTALL).group()
    assert re.findall(r'href="([^"]*)"><span [^>]+>Remove this filter:</span> ([^<]+): <bdi>(.*?)</bdi>', chips) == [
        ("?system_name=scorer-2", "Action", "Not denied"), ("?action=not_denied", "System name", "scorer-2"),
    ], "codes in words, names as they are written"  # fmt: skip
    assert 'class="chips"' not in browser.get(DECISIONS).content.decode()


@pytest.mark.once
def test_a_list_says_codes_in_words_and_leaves_out_empty_columns(api, signed_in):
    decide(api, "loan-1", outcome={"action": "not_denied"}, system={}, subject={})
    table = signed_in(Role.AUDITOR).get(DECISIONS).content.decode().partition('id="result_list"')[2]
    assert headings(table) == ["Decision", "Current action", "Received"]
    assert ">Not denied<" in table
    assert "not_denied" not in table
