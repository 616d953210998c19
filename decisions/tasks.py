from config.periodic import periodic
from decisions.mapping import drift, open_proposals


@periodic(60)
def propose_mappings() -> None:
    """Read the samples of long proposals. Started by the page that asks for one, and on schedule."""
    open_proposals.work()


@periodic(60, queue="storage")
def watch_mappings() -> None:
    """Look through new records for fields that no mapping explains."""
    drift.watch()


@periodic(600, queue="mail")
def mail_unknown_fields() -> None:
    """Mail the owners of mappings once a day about new fields."""
    drift.remind()
