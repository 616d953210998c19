import time

from config.celery import wake
from config.periodic import periodic
from custody import services
from custody.services import damage_alerts, fsck

_SECONDS = 5
"""After so long a slice ends, so that other tasks of the queue have their turn."""


@periodic(30, queue="custody")
def reconcile() -> None:
    """Finish queued and reserved records until none is due or the slice is over; then ask for the next slice. Woken by
    requests that queue a record, and by the clock."""
    ends = time.monotonic() + _SECONDS
    while services.reconcile(seconds=ends - time.monotonic())[0]:
        if time.monotonic() >= ends:
            wake(reconcile.name)
            return


@periodic(60, queue="custody")
def shorten_distant_leases() -> None:
    """Shorten leases and pauses of waiting objects that a wrong clock set far into the future."""
    services.shorten_distant_leases()


@periodic(60, queue="custody")
def watch_targets() -> None:
    """Notice when the storage of an organization fails, and when it answers again."""
    services.watch_targets()


@periodic(60, queue="custody")
def search_earlier_targets() -> None:
    """Compare buckets that new records no longer go to with our rows, once."""
    services.search_earlier_targets()


@periodic(60, queue="mail")
def send_storage_alerts() -> None:
    """Mail owners that their storage fails. Woken by what was noticed, and by the clock."""
    services.send_storage_alerts()


@periodic(60)
def note_key_outages() -> None:
    """Notice keys that cannot be used for a while."""
    services.note_key_outages()


@periodic(60, queue="mail")
def send_key_alerts() -> None:
    """Mail what owners should know of their keys. Woken by what happened, and by the clock."""
    services.send_key_alerts()


@periodic(60, queue="custody")
def inspect_custody() -> None:
    """Go on with reading and verifying everything in custody, for a second of CPU."""
    fsck.inspect_for_a_while()


@periodic(60, queue="mail")
def send_damage_alerts() -> None:
    """Mail owners that something of theirs is damaged. Woken by what was found, and by the clock."""
    damage_alerts.send_damage_alerts()


@periodic(60, queue="custody")
def finish_disposals() -> None:
    """Go on with disposals that were interrupted, or whose storage did not answer."""
    services.finish_all_disposals()


@periodic(60, queue="custody")
def replay_journal() -> None:
    """Do again what the journal of disposals says, if the database was restored from an older backup."""
    for _ in services.replay():
        pass
