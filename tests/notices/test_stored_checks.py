"""A check is stored with its notice: reading is cheap and always shows the present."""

import time
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.roles import Role
from custody import vaults
from custody.models import object_key
from decisions.models import Decision
from notices import check_results, selectors
from notices.models import Notice, NoticeRevision, Phrase, StoredCheck
from notices.packs import Pack
from notices.services import derived_rows, stored_checks
from tests.disposals import dispose_of
from tests.notices.conftest import RECORD, approve, done, drafted, edit, refused, send, shown, stored
from tests.notices.test_back_office import page
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def checks(monkeypatch):
    """Return a list that collects each computed check."""
    computed, real = [], check_results.check

    def count(*args, **options):
        computed.append(args)
        return real(*args, **options)

    monkeypatch.setattr(check_results, "check", count)
    return computed


def recomputed(api, notice):
    """Return the response without any stored check."""
    StoredCheck.objects.unscoped("a test").delete()
    return shown(api, notice)


def new_version(api, notice):
    done(approve(api, notice))
    return done(send(api, "POST", f"notices/{notice['notice_id']}/versions"))


def exemption(api, notice):
    elements = {notice["elements"][0]["id"]: "It does not apply to loans."}
    return done(send(api, "PUT", f"notices/{notice['notice_id']}/not-applicable", {"elements": elements}))


@pytest.mark.parametrize("write", [lambda api, notice: notice, new_version, exemption])
def test_the_answer_to_a_draft_or_edit_stores_its_check(api, checks, write):
    done(api.ingest(RECORD))
    answer = write(api, drafted(api))
    computed = len(checks)
    assert shown(api, answer) == answer
    assert len(checks) == computed
    assert recomputed(api, answer) == answer


def test_a_check_is_stored_under_the_phrasebook_that_it_was_made_with(api, notice, monkeypatch):
    real = check_results.check

    def slow(*args, **options):
        Phrase.objects.create(organization=api.organization, language="en", key="outcome.action", withheld=True)
        monkeypatch.setattr(check_results, "check", real)
        return real(*args, **options)

    monkeypatch.setattr(check_results, "check", slow)
    before = done(edit(api, notice, title="Another"))
    after = shown(api, notice)
    assert after["warnings"] != before["warnings"]
    assert after == recomputed(api, notice)


def test_a_notice_is_checked_once_for_every_reader(api, checks, signed_in):
    done(api.ingest(RECORD))
    notice = drafted(api)
    first = shown(api, notice)
    auditor = signed_in(Role.AUDITOR)
    assert done(send(auditor, "GET", f"notices/{notice['notice_id']}")) == first
    assert shown(api, notice, "/checklist")["citations"] == first["citations"]
    assert auditor.get(page(notice)).status_code == 200
    assert len(checks) == 1
    assert recomputed(api, notice) == first


def edited(api, notice):
    done(edit(api, notice, main_factors=[{"statement": "Nothing.", "source": "events.moon"}]))


def withheld(api, notice):
    done(send(api, "PUT", "notice-settings", {"default_pack": "general", "sensitive_fields": ["loan_to_value"]}))


def phrased(api, notice):
    Phrase.objects.create(organization=api.organization, language="en", key="outcome.action", withheld=True)


def repacked(api, notice):
    Notice.objects.unscoped("a test").update(pack_digest="another", pack_version="0")


def rewritten(api, notice):
    with unguarded():
        NoticeRevision.objects.unscoped("a test").update(cited={"outcome.action": "granted"})


@pytest.mark.parametrize("change", [edited, withheld, phrased, repacked, rewritten])
def test_a_change_of_what_a_check_depends_on_checks_again(api, notice, checks, change):
    change(api, notice)
    after = shown(api, notice)
    assert len(checks) == 1
    assert after == recomputed(api, notice)


def test_an_upgrade_of_the_rules_or_the_pack_checks_again(api, notice, checks, monkeypatch):
    monkeypatch.setattr(stored_checks, "code_digest", lambda: "newer")
    shown(api, notice)
    monkeypatch.setattr(Pack, "digest", "newer")
    shown(api, notice)
    assert len(checks) == 2


def test_a_record_damaged_since_is_reported_as_before(api, notice):
    shown(api, notice)
    record = Decision.objects.get(decision_id="loan-1").record
    key = object_key(record.organization_id, record.pk)
    body = vaults.current().get(key)
    with unguarded():
        vaults.current().delete(key)
        vaults.current().put_new(key, body[:-1] + bytes([body[-1] ^ 1]))
    assert shown(api, notice)["fault"]
    assert shown(api, notice)["citations"] == []


def test_a_check_holds_until_the_next_clock_of_its_checklist_runs_out(api):
    events = {"notification": {"sent_at": (timezone.now() + timedelta(days=30)).isoformat()}}
    done(api.ingest(RECORD | {"events": events, "outcome": {"action": "denied", "solely_automated": True}}))
    notice = drafted(api, pack="ca_qc_12_1")
    shown(api, notice)
    row = StoredCheck.objects.unscoped("a test").get()
    assert row.valid_until
    with time_machine.travel(row.valid_until + timedelta(seconds=1)):
        late = shown(api, notice)
        assert late["elements"] != notice["elements"]
        assert late == recomputed(api, notice)


def test_approval_checks_the_record_itself_whatever_is_stored(api, notice):
    done(edit(api, notice, main_factors=[{"statement": "Nothing.", "source": "events.moon"}]))
    assert shown(api, notice)["problems"]
    row = StoredCheck.objects.unscoped("a test").get()
    result = check_results.unpacked(bytes(row.result))
    result.problems.clear()
    result.warnings.clear()
    row.result = check_results.packed(result)
    row.save()
    assert shown(api, notice)["problems"] == []
    assert "The source events.moon leads nowhere in the record." in refused(approve(api, notice))


def test_a_check_goes_with_the_notice_and_does_not_come_back(api, notice):
    shown(api, notice)
    row, result = (
        stored(api, notice),
        check_results.unpacked(bytes(StoredCheck.objects.unscoped("a test").get().result)),
    )
    Notice.objects.unscoped("a test").update(state="withdrawn")
    dispose_of(api.organization)
    assert not StoredCheck.objects.unscoped("a test").exists()
    derived_rows.store(StoredCheck(notice=row, digest="0" * 64, result=result), key=["notice"])
    assert not StoredCheck.objects.unscoped("a test").exists()


def test_two_readers_at_once_store_one_check(api, notice):
    row = stored(api, notice)
    result = check_results.packed(stored_checks.check(row, selectors.current_revision(row)))
    derived_rows.store(StoredCheck(notice=row, digest="0" * 64, result=result), key=["notice"])
    assert StoredCheck.objects.unscoped("a test").get().digest == "0" * 64


def test_reading_a_long_notice_again_costs_a_fraction(api):
    reasons = [f"The loan number {n} is larger than the limit of {n} % of its value." for n in range(400)]
    done(api.ingest(RECORD | {"outcome": {"action": "denied", "reasons": reasons}}))
    notice = drafted(api)
    StoredCheck.objects.unscoped("a test").delete()
    first, again = cpu(lambda: shown(api, notice)), cpu(lambda: shown(api, notice))
    assert again < first / 3


def cpu(work) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
