"""What the back office shows of records that were disposed of: what became of them, wherever they are looked for."""

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
    """The disposals of a decision, a reconsideration and a notice, by their kinds."""
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


def test_the_page_of_the_record_tells_of_its_disposal(gone, signed_in):
    for row in gone.values():
        text = shown(signed_in(Role.AUDITOR).get(page_of(row)))
        for told in ("Disposed of", "Its retention period has ended.", "finished", row.key_id):
            assert told in text


@pytest.mark.parametrize("kind", ["decision", "reconsideration"])
def test_the_page_of_a_decision_leads_there(gone, signed_in, kind):
    browser = signed_in(Role.AUDITOR)
    for page in ("decision", "reconsideration"):
        answer = browser.get(f"/admin/decisions/{page}/{gone[kind].pk}/change/")
        assert answer["Location"] == page_of(gone[kind])


def test_so_does_the_page_of_a_notice_also_of_one_that_was_never_sealed(api, signed_in):
    done(api.ingest(RECORD))
    draft = drafted(api)
    done(step(api, draft, "withdraw"))
    (row,) = dispose_of(api.organization)
    answer = signed_in(Role.AUDITOR).get(f"/admin/notices/notice/{draft['notice_id']}/change/")
    assert answer["Location"] == page_of(row)


def test_a_search_for_its_id_or_its_records_leads_there_and_no_part_of_them_does(gone, signed_in):
    browser = signed_in(Role.AUDITOR)
    for term in ("loan-1", " loan-1 ", str(gone["decision"].pk)):
        assert browser.get("/admin/decisions/decision/", {"q": term})["Location"] == page_of(gone["decision"])
    for term in ("loan", "loan-2", "x" * 300, "nul\0"):
        assert "0 decisions" in shown(browser.get("/admin/decisions/decision/", {"q": term}))


def test_whatever_else_is_asked_of_it_says_that_it_is_gone(gone, signed_in):
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


def test_another_organizations_operator_is_told_nothing(gone, other_api, signed_in):
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


def test_the_page_of_the_record_says_how_far_it_has_come(gone, signed_in):
    browser = signed_in(Role.AUDITOR)
    Disposal.objects.filter(pk=gone["notice"].pk).update(finished_at=None)
    Disposal.objects.filter(pk=gone["reconsideration"].pk).update(finished_at=None, problem="storage x: it is full")
    assert "under way" in shown(browser.get(page_of(gone["notice"])))
    assert "it is full" in shown(browser.get(page_of(gone["reconsideration"])))


def test_lists_of_what_is_there_do_not_show_it_and_that_of_custody_does(gone, signed_in):
    browser = signed_in(Role.OWNER)
    for path in ("decisions/decision", "decisions/reconsideration", "notices/notice", "notices/reviewrequest"):
        assert list(browser.get(f"/admin/{path}/").context["cl"].result_list) == []
    rows = browser.get("/admin/custody/entry/", {"state": "disposed"}).context["cl"].result_list
    assert {row.state for row in rows} == {Entry.State.DISPOSED}
    assert len(rows) == 3
