from config.periodic import periodic
from decisions.mapping import open_proposals


@periodic(60)
def propose_mappings() -> None:
    """Read the samples of long proposals. Started by the page that asks for one, and on schedule."""
    open_proposals.work()
