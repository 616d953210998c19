"""Lists come page by page, with filters, in as many queries for many rows as for one."""

from datetime import date

import pytest
from django.utils import timezone

from accounts import audit
from accounts import selectors as accounts
from accounts.callers import Caller
from accounts.roles import Role
from notices import selectors, services
from notices.models import AuthorityGrant, Delivery, Notice, ReviewRequest
from notices.packs import packs
from tests.cases import each_case
from tests.notices.conftest import RECORD, approve, done, drafted, step, stored
from tests.statements import statements

pytestmark = pytest.mark.django_db

PATHS = ["notices", "authority-grants", "review-requests"]


@pytest.fixture
def fill(api, notice, organization):
    """Add rows to every list."""
    row = stored(api, notice)
    shell = Caller(organization.pk, Role.OWNER, audit.COMMAND_LINE)
    member = organization.members.get()
    writer = accounts.caller(member)

    def add(count: int) -> None:
        for number in range(count):
            services.draft(decision=row.decision, pack=packs()["general"], language="en", recipient={}, caller=writer)
            services.grant_authority(
                member=member, authority=f"officer {number}", valid_from=date(2026, 1, 1), caller=shell
            )
            ReviewRequest.objects.create(organization=organization, notice=row, received_at=timezone.now())
            Delivery.objects.create(notice=row, channel="post")
        Notice.objects.filter(supersedes=None).update(due_at=timezone.now())

    return add


@pytest.fixture
def filled(fill) -> None:
    fill(7)


def queries(api, path: str, **query) -> int:
    with statements() as made:
        done(api.get(f"/v1/{path}", **query))
    return len(made)


def test_many_rows_cost_no_more_queries_than_one(api, notice, fill):
    own = f"notices/{notice['notice_id']}"
    lists = [
        ("notices", {}),
        ("notices", {"due": "overdue", "state": "draft"}),
        ("authority-grants", {}),
        ("review-requests", {"state": "open"}),
        (f"{own}/deliveries", {}),
        (f"{own}/history", {}),
    ]
    fill(1)
    queries(api, "notices")  # warms the caches of the process
    one = [queries(api, path, **query) for path, query in lists]
    fill(19)
    assert [queries(api, path, **query) for path, query in lists] == one
    assert max(one) <= 6


@each_case("path", PATHS)
def test_a_list_comes_in_pages_newest_first_each_row_once(api, filled, path):
    everything = done(api.get(f"/v1/{path}", limit=200))["items"]
    pages, cursor = [], None
    while not pages or cursor:
        page = done(api.get(f"/v1/{path}", limit=3, **({"cursor": cursor} if cursor else {})))
        pages.append(page["items"])
        cursor = page["next_cursor"]
    assert [len(page) for page in pages][:2] == [3, 3]
    assert [row for page in pages for row in page] == everything
    moments = [row.get("created_at") or row["received_at"] for row in everything]
    assert moments == sorted(moments, reverse=True)


@each_case("path", PATHS)
@each_case("query", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"nonsense": 1}, {"state": "\0"}])
@pytest.mark.once
def test_an_invalid_query_is_refused(api, path, query):
    assert api.get(f"/v1/{path}", **query).status_code == 422


def test_notices_are_filtered_by_state_pack_and_decision(api, notice):
    api.ingest(RECORD | {"decision_id": "loan-2"})
    other = drafted(api, "loan-2", pack="gdpr_22")
    approve(api, notice)

    def listed(**query) -> list[str]:
        return [row["notice_id"] for row in done(api.get("/v1/notices", **query))["items"]]

    assert listed(state="approved") == listed(pack="general") == listed(decision_id="loan-1") == [notice["notice_id"]]
    assert listed(state="draft") == listed(pack="gdpr_22") == listed(decision_id="loan-2") == [other["notice_id"]]
    assert listed(state="draft", pack="general") == listed(decision_id="loan-3") == []


@pytest.mark.once
def test_a_summary_in_a_list_equals_the_notice_s_own_fields(api, approved):
    (row,) = done(api.get("/v1/notices"))["items"]
    whole = done(api.get(f"/v1/notices/{approved['notice_id']}"))
    assert row == {name: whole[name] for name in row}


def test_other_organizations_see_nothing(api, other_api, fill, approved):
    fill(1)
    step(api, approved, "deliveries", {"channel": "hand"})
    for path in PATHS:
        assert done(other_api.get(f"/v1/{path}"))["items"] == []
    for suffix in ("", "/checklist", "/history", "/letter", "/deliveries"):
        assert other_api.get(f"/v1/notices/{approved['notice_id']}{suffix}").status_code == 404
    assert AuthorityGrant.objects.count() == 1
    assert not selectors.attention(other_api.organization.pk).anything


@each_case("notice_id", ["x", "0", "00000000-0000-0000-0000-000000000000", "%00", "é"])
@pytest.mark.once
def test_an_unknown_notice_is_a_404(api, notice_id):
    assert api.get(f"/v1/notices/{notice_id}").status_code == 404
