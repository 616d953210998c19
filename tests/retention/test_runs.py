"""A run disposes of due families and of no others, and resumes after a stop."""

import io
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from config.errors import NotAllowed
from config.leases import LeaseLost
from config.periodic import SLICE_SECONDS
from custody import services as custody
from custody.keys.kms import KmsUnavailable
from custody.models import Disposal, Entry
from decisions.models import Decision
from retention import services, tasks
from retention.models import Hold, Policy, Run
from tests.notices.conftest import approve_acknowledged, done, drafted, step
from tests.retention.conftest import old_record, policy_of
from tests.support import kept_rows

pytestmark = pytest.mark.django_db


def run(organization, kind=Run.Kind.COMMAND, **options):
    return list(services.dispose_of_due(caller=callers.system(organization.pk), kind=kind, **options))


def remaining(organization):
    return set(Decision.objects.for_organization(organization).values_list("decision_id", flat=True))


@pytest.fixture
def records(api):
    """Two records that are due after 30 days, and two that are not."""

    def make():
        for decision_id, days in (("old-1", 31), ("old-2", 400), ("new-1", 29), ("new-2", 0)):
            done(api.ingest(old_record(decision_id, days=days)))

    kept_rows.make_once("records of several ages", make)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(custody, "BATCH", 1)


def hold(organization, **columns):
    columns = {"number": 1, "matter": "A v B", "reason": "Suit.", "placed_at": timezone.now(), **columns}
    return Hold.objects.create(organization=organization, placed_by="an owner", **columns)


def test_a_run_disposes_of_due_decisions_only(api, records, policy):
    (progress,) = run(api.organization)
    assert (progress.considered, progress.disposed, progress.unfinished) == (2, 2, 0)
    assert remaining(api.organization) == {"new-1", "new-2"}
    (row,) = Run.objects.all()
    assert (row.state, row.considered, row.disposed, row.records) == ("finished", 2, 2, 2)
    (event,) = AuditEvent.objects.filter(verb="retention.run")
    assert event.detail == {"policy": 1, "disposed": 2}


def test_without_a_policy_nothing_is_disposed_of(api, records):
    with pytest.raises(services.NoPolicy):
        run(api.organization)
    services.run_daily(api.organization.pk, seconds=60)
    assert len(remaining(api.organization)) == 4


def test_another_organizations_policy_disposes_of_nothing_here(api, other_api, records):
    policy_of(other_api.organization, days=1)
    done(other_api.ingest(old_record("old-1")))
    run(other_api.organization)
    assert (len(remaining(api.organization)), len(remaining(other_api.organization))) == (4, 0)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.APPROVER, Role.EDITOR, Role.AUDITOR])
def test_only_an_owner_disposes(api, api_for, records, policy, role):
    caller = callers.Caller(api.organization.pk, role, callers.SYSTEM)
    with pytest.raises(NotAllowed):
        services.dispose_of_due(caller=caller, kind=Run.Kind.COMMAND)
    assert len(remaining(api.organization)) == 4


def test_a_decision_with_an_open_notice_is_not_disposed_of(api, records, policy):
    notice = drafted(api, "old-1")
    run(api.organization)
    assert "old-1" in remaining(api.organization)
    assert Run.objects.get().with_obstacle == 0  # its period starts with the notice, so it was not due at all
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        run(api.organization)
        assert "old-1" in remaining(api.organization)
        done(approve_acknowledged(api, notice))
        done(step(api, notice, "deliveries", {"channel": "hand"}))
    assert Run.objects.order_by("pk").last().with_obstacle == 1


def test_a_hold_always_wins(api, records, policy):
    hold(api.organization, root=Decision.objects.get(decision_id="old-1").pk)
    run(api.organization)
    assert remaining(api.organization) == {"old-1", "new-1", "new-2"}
    assert Run.objects.get().held == 1


def test_a_hold_placed_during_a_run_wins(api, records, policy, small_batches):
    first, second = Decision.objects.filter(decision_id__startswith="old").order_by("pk")
    steps = services.dispose_of_due(caller=callers.system(api.organization.pk), kind=Run.Kind.COMMAND)
    assert next(steps).disposed == 1
    hold(api.organization, root=second.pk)
    assert next(steps).disposed == 0
    assert list(steps) == []
    assert second.decision_id in remaining(api.organization)
    assert first.decision_id not in remaining(api.organization)


def test_a_hold_placed_between_evaluation_and_disposal_wins(api, records, policy, monkeypatch):
    prepare = custody.prepare

    def prepare_and_hold(due, order, **options):
        prepared = prepare(due, order, **options)
        hold(api.organization, filter={})
        return prepared

    monkeypatch.setattr(custody, "prepare", prepare_and_hold)
    assert [step.disposed for step in run(api.organization)] == [0]
    assert len(remaining(api.organization)) == 4
    assert Run.objects.get().held == 2


def test_a_stopped_run_resumes(api, records, policy, small_batches):
    assert [step.disposed for step in run(api.organization, seconds=0)] == [1]
    row = Run.objects.get()
    assert (row.state, row.disposed, row.lease_token) == ("running", 1, None)
    assert [step.disposed for step in run(api.organization)] == [1]
    row.refresh_from_db()
    assert (row.state, row.considered, row.disposed) == ("finished", 2, 2)


def test_a_worker_that_lost_its_lease_disposes_of_nothing_more(api, policy, small_batches):
    for number in range(2):
        done(api.ingest(old_record(f"old-{number}", days=31)))
    for number in range(20):  # so that the due ones stay below the share that asks
        done(api.ingest(old_record(f"new-{number}", days=0)))
    caller = callers.system(api.organization.pk)
    daily = services.dispose_of_due(caller=caller, kind=Run.Kind.DAILY, seconds=60)
    next(daily)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        command = services.dispose_of_due(caller=caller, kind=Run.Kind.COMMAND, seconds=60)
        next(command)
        with pytest.raises(LeaseLost):
            next(daily)
        rows = Run.objects.for_organization(api.organization.pk)
        assert dict(rows.values_list("kind", "state")) == {"daily": "stopped", "command": "running"}
        list(command)
        assert dict(rows.values_list("kind", "state")) == {"daily": "stopped", "command": "finished"}


def test_a_killed_run_resumes_after_its_lease(api, records, policy, small_batches):
    steps = services.dispose_of_due(caller=callers.system(api.organization.pk), kind=Run.Kind.COMMAND)
    next(steps)  # and then the process is gone
    with pytest.raises(services.RunGoing, match="has been going on since"):
        run(api.organization)
    with time_machine.travel(timezone.now() + timedelta(minutes=3)):
        assert [step.disposed for step in run(api.organization)] == [1]
    assert Run.objects.get().disposed == 2
    steps.close()


def test_a_second_run_at_the_same_time_is_refused(api, records, policy, small_batches):
    steps = services.dispose_of_due(caller=callers.system(api.organization.pk), kind=Run.Kind.COMMAND)
    next(steps)
    with pytest.raises(CommandError, match="Wait until it ends"):
        call_command("retention_run", organization=api.organization.slug, yes=True)
    services.run_daily(api.organization.pk, seconds=60)
    steps.close()
    assert Run.objects.count() == 1


def test_a_change_of_policy_stops_the_run(api, records, policy, small_batches):
    steps = services.dispose_of_due(caller=callers.system(api.organization.pk), kind=Run.Kind.COMMAND)
    next(steps)
    policy_of(api.organization, days=500, number=2)
    with pytest.raises(services.PolicyChanged):
        next(steps)
    assert Run.objects.get().state == "stopped"
    assert len(remaining(api.organization)) == 3
    run(api.organization)
    assert len(remaining(api.organization)) == 3


def test_without_a_usable_signing_key_the_run_waits(api, records, policy, monkeypatch):
    def refuse(*_, **options):
        raise KmsUnavailable("The key is disabled.")

    monkeypatch.setattr(custody, "prepare", refuse)
    with pytest.raises(KmsUnavailable):
        run(api.organization)
    assert len(remaining(api.organization)) == 4
    monkeypatch.undo()
    run(api.organization)
    assert len(remaining(api.organization)) == 2
    assert Run.objects.get().state == "finished"


# ── the daily run ──


def daily(organization):
    services.run_daily(organization.pk, seconds=60)
    return Run.objects.for_organization(organization).order_by("-pk").first()


def test_the_daily_run_runs_once_a_day(api, records, policy):
    assert daily(api.organization).disposed == 2
    done(api.ingest(old_record("old-3")))
    daily(api.organization)
    assert Run.objects.count() == 1
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert daily(api.organization).disposed == 2  # with new-1, which is 30 days old by then
    assert Run.objects.count() == 2


def test_the_daily_run_asks_before_it_exceeds_the_share(api, records, policy):
    Policy.objects.update(share_percent=49)
    row = daily(api.organization)
    assert (row.state, row.candidates, row.disposed) == ("asks", 2, 0)
    assert daily(api.organization) == row
    assert len(remaining(api.organization)) == 4


def test_a_confirmed_run_disposes_of_the_confirmed_number_at_most(api, records, policy):
    Policy.objects.update(share_percent=49)
    row = daily(api.organization)
    done(api.ingest(old_record("old-3")))
    Run.objects.filter(pk=row.pk).update(state="running", confirmed_at=timezone.now(), confirmed_by="an owner")
    row = daily(api.organization)
    assert (row.state, row.disposed, len(remaining(api.organization))) == ("finished", 2, 3)


def test_a_daily_run_without_time_counts_all_before_it_disposes(api, records, policy, small_batches):
    Policy.objects.update(share_percent=49)
    for _ in range(3):
        services.run_daily(api.organization.pk, seconds=0)
    row = Run.objects.get()
    assert (row.state, row.candidates, row.disposed) == ("asks", 2, 0)


def test_a_daily_run_disposes_of_counted_families_at_most(api, records, policy, small_batches):
    Policy.objects.update(share_percent=50)
    services.run_daily(api.organization.pk, seconds=0)
    assert Run.objects.get().disposed == 1
    for number in range(3):
        done(api.ingest(old_record(f"old-{number + 3}")))
    row = daily(api.organization)
    assert (row.state, row.disposed) == ("finished", 2)


def test_the_daily_run_gives_way_after_a_slice_and_asks_for_the_next(api, records, policy, small_batches, monkeypatch):
    woken = []
    monkeypatch.setattr(tasks, "wake", woken.append)
    monkeypatch.setattr(tasks, "SLICE_SECONDS", 0)
    Policy.objects.update(share_percent=50)
    tasks.run_daily()
    assert (Run.objects.get().disposed, woken) == (1, [tasks.run_daily.name])


def test_a_run_whose_key_signs_slowly_disposes_of_a_few_families_in_each_slice(api, records, policy, monkeypatch):
    """All in one slice would take longer than the time limit of a task, and so begin again forever."""
    hold(api.organization, root=Decision.objects.filter(decision_id__startswith="old").order_by("-pk")[0].pk)
    done(api.ingest(old_record("old-3")))
    disposing = import_module("custody.services.dispose")  # the package exports the function of this name
    seconds, sign = [0.0], disposing.signed_disposals

    def slow(*arguments):
        seconds[0] += 2 * SLICE_SECONDS
        return sign(*arguments)

    clock = SimpleNamespace(monotonic=lambda: seconds[0])
    for module in (disposing, import_module("retention.services.runs")):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(disposing, "signed_disposals", slow)
    monkeypatch.setattr(disposing, "_PARALLEL", 1)
    progress = []
    while not Run.objects.filter(state="finished").exists():
        progress += run(api.organization, seconds=SLICE_SECONDS)
    assert [step.disposed for step in progress if step.disposed] == [1, 1]
    (row,) = Run.objects.all()
    assert (row.considered, row.disposed, row.held) == (3, 2, 1)


def test_a_daily_run_within_the_share_does_not_ask(api, records, policy):
    Policy.objects.update(share_percent=50)
    assert daily(api.organization).disposed == 2


def test_a_command_replaces_a_run_that_asks(api, records, policy):
    Policy.objects.update(share_percent=1)
    daily(api.organization)
    run(api.organization)
    assert list(Run.objects.order_by("pk").values_list("state", flat=True)) == ["stopped", "finished"]


def test_the_daily_run_follows_a_shorter_policy_after_a_week(api, records):
    policy_of(api.organization, shortens=True, begins_at=None)
    services.run_daily(api.organization.pk, seconds=60)
    assert not Run.objects.exists()
    now = timezone.now()
    Policy.objects.update(announced_at=now, begins_at=now + timedelta(days=7))
    with time_machine.travel(now + timedelta(days=6, hours=23)):
        services.run_daily(api.organization.pk, seconds=60)
        assert not Run.objects.exists()
    with time_machine.travel(now + timedelta(days=7)):
        assert daily(api.organization).disposed == 3


def test_the_daily_run_does_not_resume_a_stopped_command(api, records, small_batches):
    """A command follows a policy that owners may not have known for a week."""
    policy_of(api.organization, shortens=True, begins_at=None)
    assert [step.disposed for step in run(api.organization, seconds=0)] == [1]
    services.run_daily(api.organization.pk, seconds=60)
    assert len(remaining(api.organization)) == 3
    assert [step.disposed for step in run(api.organization)] == [1]
    assert Run.objects.get().disposed == 2


def test_each_kind_of_run_stops_an_idle_run_of_the_other_kind(api, records, policy, small_batches):
    for kind, other in ((Run.Kind.DAILY, Run.Kind.COMMAND), (Run.Kind.COMMAND, Run.Kind.DAILY)):
        run(api.organization, kind=kind, seconds=0)
        run(api.organization, kind=other)
        done(api.ingest(old_record(f"{kind}-1")))
        done(api.ingest(old_record(f"{kind}-2")))
    states = Run.objects.order_by("pk").values_list("kind", "state")
    assert list(states) == [
        ("daily", "stopped"), ("command", "finished"), ("command", "stopped"), ("daily", "finished"),
    ]  # fmt: skip


# ── the command ──


def command(organization, answer=None, monkeypatch=None, **options):
    out = io.StringIO()
    if monkeypatch:
        monkeypatch.setattr("builtins.input", lambda _: answer)
    call_command("retention_run", organization=organization.slug, stdout=out, **options)
    return out.getvalue()


def test_the_command_shows_the_count_and_asks(api, records, policy, monkeypatch):
    with pytest.raises(CommandError, match="Nothing was disposed of"):
        command(api.organization, "no", monkeypatch)
    assert len(remaining(api.organization)) == 4
    output = command(api.organization, "yes", monkeypatch)
    assert "Due, with all that belongs to them: 2 decisions." in output
    assert "2 decisions disposed of" in output
    assert len(remaining(api.organization)) == 2


def test_a_policy_that_changes_after_the_question_disposes_of_nothing(api, records, policy, monkeypatch):
    def meanwhile(_):
        policy_of(api.organization, days=1, number=2, shortens=True, begins_at=None)
        return "yes"

    monkeypatch.setattr("builtins.input", meanwhile)
    with pytest.raises(CommandError, match="The retention policy was changed"):
        call_command("retention_run", organization=api.organization.slug)
    assert len(remaining(api.organization)) == 4
    assert Run.objects.get().state == "stopped"


def test_a_dry_run_changes_nothing(api, records, policy):
    hold(api.organization, root=Decision.objects.get(decision_id="old-1").pk)
    output = command(api.organization, dry_run=True)
    assert "Due, with all that belongs to them: 1 decision." in output
    assert "Kept by a hold: 1 decision." in output
    assert not Run.objects.exists()
    assert len(remaining(api.organization)) == 4


def test_without_a_journal_the_command_warns_about_a_restore(api, records, policy, settings):
    assert "There is no journal" not in command(api.organization, dry_run=True)
    settings.RETENTION_JOURNAL = ""
    assert "There is no journal" in command(api.organization, dry_run=True)


@pytest.mark.once
def test_the_command_fails_if_storage_does_not_answer(api, filesystem_vault, records, policy):
    (filesystem_vault / "MARKER").unlink()
    with pytest.raises(CommandError, match="2 records could not be removed everywhere yet"):
        command(api.organization, yes=True)
    assert Disposal.objects.filter(finished_at=None).count() == 2
    assert Entry.objects.filter(state="disposed").count() == 2


def test_without_a_terminal_nothing_is_disposed_of(api, records, policy, monkeypatch):
    def at_end(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", at_end)
    with pytest.raises(CommandError, match="Pass --yes"):
        call_command("retention_run", organization=api.organization.slug)
    assert len(remaining(api.organization)) == 4
