"""Additions to a family during its disposal wait, and then add nothing. Additions that came first are part of the
family, which is then left alone."""

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
from tests.notices.conftest import RECORD, approve_acknowledged, done, drafted, edit, stored
from tests.reconsiderations.conftest import REVIEW
from tests.support.kept_rows import make_once
from tests.system.live import wait_until


class Elsewhere(threading.Thread):
    """Work on another database connection, and its outcome."""

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
    """Whether another connection waits for us. Unknown on SQLite, where the first one proceeds, which is right too."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.fetchone() is not None


def begun(work) -> Elsewhere:
    """Start work on another connection, once it waits for our lock."""
    thread = Elsewhere(work)
    thread.start()
    wait_until(lambda: waits_for_us() or not thread.is_alive(), "the other one waits or is done")
    return thread


@pytest.fixture
def letter(shared_database, api):
    """Return an approved notice and its additions, as services take them."""

    def make():
        done(api.ingest(RECORD))
        draft = drafted(api)
        done(edit(api, draft, human_review_available=True))
        return stored(api, done(approve_acknowledged(api, draft)))

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
        "readdress": lambda: notices.set_recipient(caller=caller, notice=row, recipient={"name": "Another Person"}),
    }


def each_of(*names):
    """Parametrize additions, each in a separate test. SQLite locks everything for any: there the first one suffices."""
    first, *others = names
    return pytest.mark.parametrize("name", [first, *(pytest.param(other, marks=pytest.mark.once) for other in others)])


@each_of("reconsider", "draft", "new version", "deliver", "ask", "readdress")
def test_an_addition_during_the_commit_of_a_disposal_adds_nothing(letter, name):
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
def test_a_family_with_an_addition_in_progress_is_not_disposed_of_without_it(letter, name):
    caller = callers.system(letter.organization_id)
    notices.deliver(caller=caller, notice=letter, channel=Delivery.Channel.HAND)
    chosen = Families(letter.organization_id, [letter.decision_id])
    prepared = services.prepare(chosen, ORDER)
    assert families.obstacles(chosen) == {letter.decision_id: []}

    def disposal():
        with transaction.atomic():
            families.lock(chosen)
            obstacles = families.obstacles(chosen)[letter.decision_id]
            return obstacles or services.dispose(prepared, chosen.roots)

    with transaction.atomic():
        additions(letter)[name]()
        other = begun(disposal)
    other.join()
    assert not Disposal.objects.exists()
    assert isinstance(other.came, list), repr(other.came)
