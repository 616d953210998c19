import time

from config.celery import wake
from config.periodic import SLICE_SECONDS, periodic
from custody import services
from custody.services import fsck


@periodic(30, queue="custody")
def reconcile() -> None:
    """Finish queued and reserved records until none is due or the slice ends; then ask for the next slice. Started by
    requests that queue a record, and on schedule."""
    ends = time.monotonic() + SLICE_SECONDS
    while services.reconcile(seconds=ends - time.monotonic())[0]:
        if time.monotonic() >= ends:
            wake(reconcile.name)
            return


@periodic(60, queue="custody")
def shorten_distant_leases() -> None:
    """Shorten leases and pauses that a wrong clock set far into the future."""
    services.shorten_distant_leases()


@periodic(60, queue="storage")
def watch_targets() -> None:
    """Record when the storage of an organization fails, and when it answers again."""
    services.watch_targets()


@periodic(60, queue="storage")
def search_earlier_targets() -> None:
    """Compare former buckets with our rows, once each."""
    services.search_earlier_targets()


@periodic(60, queue="mail")
def send_storage_alerts() -> None:
    """Mail owners that their storage fails. Started by a new outage, and on schedule."""
    services.send_storage_alerts()


@periodic(60)
def note_key_outages() -> None:
    """Record keys that cannot be used for a while."""
    services.note_key_outages()


@periodic(60, queue="mail")
def send_key_alerts() -> None:
    """Mail owners about key outages. Started by a new outage, and on schedule."""
    services.send_key_alerts()


@periodic(60, queue="storage")
def inspect_custody() -> None:
    """Continue to read and verify everything in custody, for a second of CPU."""
    fsck.inspect_for_a_while()


@periodic(60, queue="mail")
def send_damage_alerts() -> None:
    """Mail owners that records of theirs are damaged. Started by new damage, and on schedule."""
    services.send_damage_alerts()


@periodic(60, queue="storage")
def finish_disposals() -> None:
    """Continue disposals that were interrupted, or whose storage did not answer, for a slice; then ask for the next
    slice."""
    if services.finish_all_disposals(seconds=SLICE_SECONDS):
        wake(finish_disposals.name)


@periodic(60, queue="storage")
def replay_journal() -> None:
    """Repeat the disposals of the journal if the database was restored from an older backup."""
    for _ in services.replay():
        pass
