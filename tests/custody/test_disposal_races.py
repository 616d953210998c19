"""Whoever adds to a family while it is disposed of waits, and adds nothing. Whoever came first is part of the family,
which is left alone then."""

import threading

import pytest
from django.db import connection, connections, transaction

from accounts import callers
from custody import services
from custody.disposal import families
from custody.models import Disposal, Entry
from custody.record_types import Families
from custody.selectors import Disposed
from decisions import services as decisions
from decisions.models import Decision
from decisions.review_records import Review
from notices import selectors
from notices import services as notices
from notices.models import Delivery, Notice, NoticeRevision, ReviewRequest
from notices.packs import packs
from tests.disposals import ORDER
from tests.notices.conftest import RECORD, approve_as_is, done, drafted, edit, stored
from tests.reconsiderations.conftest import REVIEW
from tests.support.kept_rows import make_once
from tests.system.live import wait_until


class Elsewhere(threading.Thread):
    """Some work on a connection of its own, and what came of it."""

    def __init__(self, work):
        super().__init__()
        self.work, self.came = work, None

    def run(self):
        try:
            self.came = self.work()
        except Exception as error:
            self.came = error
        finally:
            connections.close_all()


def waits_for_us() -> bool:
    """Whether somebody does. SQLite does not tell: there the one who came first goes on, which is right as well."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.fetchone() is not None


def begun(work) -> Elsewhere:
    """Some work that goes on elsewhere, once it waits for a lock of ours."""
    thread = Elsewhere(work)
    thread.start()
    wait_until(lambda: waits_for_us() or not thread.is_alive(), "the other one waits or is done")
    return thread


@pytest.fixture
def letter(shared_database, api):
    """An approved notice with what it offers, as services take it."""

    def make():
        done(api.ingest(RECORD))
        draft = drafted(api)
        done(edit(api, draft, human_review_available=True))
        return stored(api, done(approve_as_is(api, draft)))

    return make_once("an approved notice that offers a review", make)


def additions(row):
    caller = callers.system(row.organization_id)
    decision, code = row.decision, selectors.letter(row).review_code
    return {
        "reconsider": lambda: decisions.reconsider(
            caller=caller, decision=decision, review=Review(**REVIEW), source="test"
        ),
        "draft": lambda: notices.draft(caller=caller, decision=decision, pack=packs()["general"], recipient={}),
        "new version": lambda: notices.new_version(caller=caller, notice=row),
        "deliver": lambda: notices.deliver(caller=caller, notice=row, channel=Delivery.Channel.HAND),
        "ask": lambda: notices.request_review(notice=row, code=code, message="please"),
        "readdress": lambda: notices.set_recipient(caller=caller, notice=row, recipient={"name": "Somebody"}),
    }


def each_of(*names):
    """Additions, each in a test of its own. SQLite locks everything for any of them: the first shows it there."""
    first, *others = names
    return pytest.mark.parametrize("name", [first, *(pytest.param(each, marks=pytest.mark.once) for each in others)])


@each_of("reconsider", "draft", "new version", "deliver", "ask", "readdress")
def test_what_comes_while_a_disposal_commits_adds_nothing(letter, name):
    chosen = Families(letter.organization_id, [letter.decision_id])
    prepared = services.prepare(chosen, ORDER)
    work = additions(letter)[name]
    with transaction.atomic():
        families.lock(chosen)
        services.dispose(prepared, chosen.roots)
        other = begun(work)
    other.join()
    assert isinstance(other.came, Disposed), other.came
    assert set(Entry.objects.values_list("state", flat=True)) == {"disposed"}
    assert Decision.with_disposed.count() == 1
    assert (Notice.with_disposed.count(), Delivery.objects.count(), ReviewRequest.objects.count()) == (1, 0, 0)
    assert not NoticeRevision.objects.exclude(content={}).exists()
    assert Notice.with_disposed.get().recipient == {}


@each_of("reconsider", "draft", "new version", "ask")
def test_a_family_to_which_something_is_being_added_is_not_disposed_of_without_it(letter, name):
    caller = callers.system(letter.organization_id)
    notices.deliver(caller=caller, notice=letter, channel=Delivery.Channel.HAND)
    chosen = Families(letter.organization_id, [letter.decision_id])
    prepared = services.prepare(chosen, ORDER)
    assert families.obstacles(chosen) == {letter.decision_id: []}

    def disposal():
        with transaction.atomic():
            families.lock(chosen)
            found = families.obstacles(chosen)[letter.decision_id]
            return found or services.dispose(prepared, chosen.roots)

    with transaction.atomic():
        additions(letter)[name]()
        other = begun(disposal)
    other.join()
    assert not Disposal.objects.exists()
    assert isinstance(other.came, list), repr(other.came)
