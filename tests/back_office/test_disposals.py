"""Disposed records in the back office: every page of them leads to their disposal."""

import pytest

from accounts.roles import Role
from custody.models import Disposal, Entry
from notices.models import Notice
from tests.disposals import dispose_of
from tests.notices.conftest import RECORD, approve, done, drafted, step
from tests.reconsiderations.conftest import reconsider

pytestmark = pytest.mark.django_db


@pytest.fixture
def gone(api):
    """Dispose of a decision, a reconsideration and a notice. Return their disposals by kind."""
    done(api.ingest(RECORD))
    done(reconsider(api))
    notice = drafted(api)
    done(approve(api, notice))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    dispose_of(api.organization)
    return {row.record.kind: row for row in Disposal.objects.select_related("record")}


def shown(answer):
    assert answer.status_code == 200, answer
    return answer.content.decode()


def page_of(row):
    return f"/admin/custody/entry/{row.pk}/change/"


def test_the_page_of_the_record_shows_its_disposal(gone, signed_in):
    for row in gone.values():
        text = shown(signed_in(Role.AUDITOR).get(page_of(row)))
        for part in ("Disposed of", "Its retention period has ended.", "finished", row.key_id):
            assert part in text


@pytest.mark.parametrize("kind", ["decision", "reconsideration"])
def test_the_page_of_a_disposed_decision_redirects_to_its_record(gone, signed_in, kind):
    browser = signed_in(Role.AUDITOR)
    for page in ("decision", "reconsideration"):
        answer = browser.get(f"/admin/decisions/{page}/{gone[kind].pk}/change/")
        assert answer["Location"] == page_of(gone[kind])


def test_the_page_of_a_disposed_notice_redirects_to_its_record_even_if_unsealed(api, signed_in):
    done(api.ingest(RECORD))
    draft = drafted(api)
    done(step(api, draft, "withdraw"))
    (row,) = dispose_of(api.organization)
    answer = signed_in(Role.AUDITOR).get(f"/admin/notices/notice/{draft['notice_id']}/change/")
    assert answer["Location"] == page_of(row)


def test_a_search_for_a_disposed_id_redirects_but_one_for_its_start_does_not(gone, signed_in):
    browser = signed_in(Role.AUDITOR)
    for term in ("loan-1", " loan-1 ", str(gone["decision"].pk)):
        assert browser.get("/admin/decisions/decision/", {"q": term})["Location"] == page_of(gone["decision"])
    for term in ("loan", "loan-2", "x" * 300, "nul\0"):
        assert "0 decisions" in shown(browser.get("/admin/decisions/decision/", {"q": term}))


def test_every_other_page_of_a_disposed_record_is_a_410(gone, signed_in):
    browser, pk = signed_in(Role.OWNER), gone["decision"].pk
    notice = Notice.with_disposed.get().pk
    for path in (
        f"decisions/decision/{pk}/record/",
        f"decisions/decision/{pk}/receipt/",
        f"decisions/decision/{pk}/reconsider/",
        f"notices/notice/{notice}/letter/",
        f"notices/notice/{notice}/edit/",
        f"notices/notice/{notice}/compare/",
    ):
        answer = browser.get(f"/admin/{path}")
        assert answer.status_code == 410, path
        assert "was disposed of on" in answer.content.decode()


def test_another_organization_does_not_see_the_disposal(gone, other_api, signed_in):
    stranger = signed_in(Role.OWNER, "stranger@other.example", other_api.organization)
    for path in (
        f"custody/entry/{gone['decision'].pk}/change/",
        f"custody/disposal/{gone['decision'].pk}/change/",
        f"decisions/decision/{gone['decision'].pk}/change/",
        f"notices/notice/{Notice.with_disposed.get().pk}/change/",
    ):
        answer = stranger.get(f"/admin/{path}", follow=True)
        assert answer.status_code == 404, path
    assert "0 decisions" in shown(stranger.get("/admin/decisions/decision/", {"q": "loan-1"}))


def test_the_page_of_the_record_shows_the_progress_of_its_disposal(gone, signed_in):
    browser = signed_in(Role.AUDITOR)
    Disposal.objects.filter(pk=gone["notice"].pk).update(finished_at=None)
    Disposal.objects.filter(pk=gone["reconsideration"].pk).update(finished_at=None, problem="storage x: it is full")
    assert "under way" in shown(browser.get(page_of(gone["notice"])))
    assert "it is full" in shown(browser.get(page_of(gone["reconsideration"])))


def test_only_the_list_of_custody_shows_disposed_records(gone, signed_in):
    browser = signed_in(Role.OWNER)
    for path in ("decisions/decision", "decisions/reconsideration", "notices/notice", "notices/reviewrequest"):
        assert list(browser.get(f"/admin/{path}/").context["cl"].result_list) == []
    rows = browser.get("/admin/custody/entry/", {"state": "disposed"}).context["cl"].result_list
    assert {row.state for row in rows} == {Entry.State.DISPOSED}
    assert len(rows) == 3
