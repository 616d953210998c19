"""The clock's schedule comes from the apps, and workers serve every queue in it."""

import json
import subprocess
import sys

import pytest
from django.conf import settings

TASKS = {
    "accounts.tasks.deliver_mail": (10, "mail"),
    "accounts.tasks.forget_answers": (600, "default"),
    "connectors.tasks.dispatch": (5, "dispatch"),
    "connectors.tasks.repair_times": (60, "dispatch"),
    "connectors.tasks.note_silence": (600, "default"),
    "connectors.tasks.send_alerts": (60, "mail"),
    "custody.tasks.finish_disposals": (60, "storage"),
    "custody.tasks.replay_journal": (60, "storage"),
    "custody.tasks.search_earlier_targets": (60, "storage"),
    "custody.tasks.note_key_outages": (60, "default"),
    "custody.tasks.reconcile": (30, "custody"),
    "custody.tasks.shorten_distant_leases": (60, "custody"),
    "custody.tasks.send_key_alerts": (60, "mail"),
    "custody.tasks.watch_targets": (60, "storage"),
    "custody.tasks.send_storage_alerts": (60, "mail"),
    "custody.tasks.inspect_custody": (60, "storage"),
    "custody.tasks.send_damage_alerts": (60, "mail"),
    "accounts.tasks.seal_audit_trail": (600, "default"),
    "decisions.tasks.propose_mappings": (60, "default"),
    "decisions.tasks.watch_mappings": (60, "storage"),
    "decisions.tasks.mail_unknown_fields": (600, "mail"),
    "retention.tasks.run_daily": (300, "storage"),
    "notices.tasks.deliver_letters": (30, "letters"),
    "notices.tasks.acknowledge_requests": (30, "mail"),
    "notices.tasks.remind": (600, "mail"),
    "notices.tasks.seal_approved": (60, "storage"),
    "retention.tasks.send_announcements": (60, "mail"),
}


@pytest.fixture(scope="module")
def clock():
    """Return the schedule and the queues of a process that starts like beat."""
    program = (
        "import json; from config.celery import app; app.loader.init_worker(); app.finalize()\n"
        "route = lambda e: app.amqp.router.route(dict(e['options']), e['task'])['queue'].name\n"
        "entries = [[e['task'], e['schedule'], e['options'], route(e)] for e in app.conf.beat_schedule.values()]\n"
        "print(json.dumps([entries, [q.name for q in app.conf.task_queues], app.conf.task_default_queue]))\n"
        "assert all(name in app.tasks for name, *_ in entries)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_every_periodic_task_is_sent_at_its_interval_and_expires_after_it(clock):
    entries, _, _ = clock
    assert {task: (every, queue) for task, every, _, queue in entries} == TASKS
    assert all(options["expires"] == every for _, every, options, _ in entries)


def test_a_worker_without_named_queues_serves_all(clock):
    entries, queues, default = clock
    assert queues == ["dispatch", "mail", "default", "custody", "letters", "storage", "poll"]
    assert default in queues
    assert {queue for *_, queue in entries} <= set(queues)
