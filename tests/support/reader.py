"""A reader of a source, which remembers cursor and ledger between polls like a connector."""

import hmac
import time
import uuid
from typing import Any

from connectors.kinds import Batch, Item, Kind, Source, SourceFault, Step
from connectors.kinds.base import LedgerEntry
from tests.threads import HANGS_SECONDS


class Reader:
    """The cursor and ledger of a connector."""

    def __init__(self, kind: Kind, config: dict[str, Any], secret: str = "") -> None:
        self.kind, self.config, self.secret = kind, kind.Config.model_validate(config), secret
        self.organization_id = uuid.uuid4()
        self.cursor: Any = {}
        self.ledger: set[LedgerEntry] = set()
        self.steps: list[Step] = []

    def forget(self) -> None:
        """Start from the beginning, as after `reset_cursor`."""
        self.cursor, self.ledger = {}, set()

    def source(self, seconds: float = HANGS_SECONDS, batch_items: int = 500) -> Source[Any]:
        source = Source(
            config=self.config,
            secret=lambda: self.secret,
            organization_id=self.organization_id,
            deadline=time.monotonic() + seconds,
            unread=lambda entries: set(entries) - self.ledger,
            known=lambda name: next((entry for entry in self.ledger if entry.name == name), None),
            digest=lambda content: hmac.digest(self.organization_id.bytes, content, "sha256").hex(),
            batch_items=batch_items,
        )
        self.steps = source.steps
        return source

    def poll(self, *, max_batches: int = 10_000, **limits: Any) -> list[bytes]:
        """Return the records that a poll reads, up to `max_batches` batches."""
        return [item.raw for item in self.items(max_batches=max_batches, **limits)]

    def items(self, *, max_batches: int = 10_000, **limits: Any) -> list[Item]:
        return [item for batch in self.batches(max_batches=max_batches, **limits) for item in batch.items]

    def batches(self, *, max_batches: int = 10_000, **limits: Any) -> list[Batch]:
        batches = []
        for batch in self.kind.read(self.source(**limits), self.cursor):
            batches.append(batch)
            self.keep(batch)
            if len(batches) == max_batches:
                break
        return batches

    def keep(self, batch: Batch) -> None:
        """Note that a batch is in custody."""
        self.cursor = batch.cursor
        names = {entry.name for entry in batch.ledger}
        self.ledger = {entry for entry in self.ledger if entry.name not in names} | set(batch.ledger)

    def fault(self, **limits: Any) -> SourceFault:
        """Return the fault with which a poll ends."""
        try:
            self.poll(**limits)
        except SourceFault as fault:
            return fault
        raise AssertionError("the poll succeeded")

    @property
    def failed(self) -> Step:
        """Return the step that failed in the last poll."""
        (step,) = [step for step in self.steps if not step.ok]
        return step
