"""Every change of state of connectors: managing them, polling them, and what waits in quarantine."""

from connectors.errors import NoConnector, NotPolled
from connectors.services.alerts import note_silence, send_alerts
from connectors.services.claims import due_count
from connectors.services.clock_skew import repair_times
from connectors.services.connectors import (
    Changes,
    change_connector,
    create_connector,
    delete_connector,
    request_poll,
)
from connectors.services.polling import poll, poll_due
from connectors.services.quarantine import dismiss_quarantined, retry_quarantined
from connectors.services.trial import Tested, try_source

__all__ = [
    "Changes",
    "NoConnector",
    "NotPolled",
    "Tested",
    "change_connector",
    "create_connector",
    "delete_connector",
    "dismiss_quarantined",
    "due_count",
    "note_silence",
    "poll",
    "poll_due",
    "repair_times",
    "request_poll",
    "retry_quarantined",
    "send_alerts",
    "try_source",
]
