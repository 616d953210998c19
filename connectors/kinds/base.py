"""What a kind of source is, and what it is given to read one."""

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from config.errors import DomainError
from connectors.formats import Format, Item
from connectors.maps import FieldMap

Cursor = Mapping[str, Any]
"""Where a source was read up to, as JSON; {} at its beginning. Only the kind that wrote it understands it."""


class SourceFault(DomainError):
    """The source cannot be read.

    Args:
        sentence: what is wrong, without anything of the secret or of a record.
        fix: what to do about it, and who.
        cause: `config` needs somebody to change something, and stops the connector soon; `transient` goes away by
            itself; `system` is ours.
        retry_after: seconds, where the source asked for them.
    """

    code: ClassVar = "source_fault"
    status: ClassVar = 503

    def __init__(
        self,
        sentence: str,
        *,
        fix: str,
        cause: Literal["config", "transient", "system"] = "config",
        retry_after: int | None = None,
        because: str = "",
    ) -> None:
        super().__init__(sentence, because=because, retry_after=retry_after)
        self.fix, self.cause = fix, cause


class MachineFault(SourceFault):
    """This machine lacks what reading the source takes, such as a secret or a folder. Another machine may have it.

    A poll that ends so counts no failure of the connector.
    """

    def __init__(self, sentence: str, *, fix: str, because: str = "") -> None:
        super().__init__(sentence, fix=fix, cause="system", because=because)


class Batch(NamedTuple):
    """What was read up to a place from which reading can go on."""

    items: list[Item]
    cursor: Cursor
    """Where to go on once the items are in custody."""
    behind_seconds: float | None = None
    """How old the newest item is, where the source tells; None if it does not."""
    ledger: tuple["LedgerEntry", ...] = ()
    """Objects or files that are finished with this batch."""


class LedgerEntry(NamedTuple):
    """An object or a file as it was read. Neither its time nor its name says whether it came after others."""

    name: str
    version: str
    """An object's version or ETag; of a file its size and time; of a page a keyed digest of its list."""
    note: str = ""
    """State that the kind reads at the next poll of this name, such as the ETag of a page."""


class Step(NamedTuple):
    """One step of a test, in words."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    warns: bool = False
    """Whether it went well and may not be what was meant."""


Settings = TypeVar("Settings", bound="KindConfig")


class KindConfig(BaseModel):
    """The settings of a kind. What is wrong with them are the connector's `problems`, and never a 422.

    A setting's docstring stands beside its field in the back office: each kind asks pydantic for it, which takes a
    while, and is loaded when it is needed.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Format = Field("auto", description="Format of the source data; gzip is detected.")
    map: FieldMap | None = Field(
        None,
        description='How an item becomes a record, such as {"fields": {"decision_id": "/id"}}. '
        "Leave empty if items are already records.",
    )


@dataclass
class Source(Generic[Settings]):
    """A source to read: its settings, and what surrounds reading it."""

    config: Settings
    secret: Callable[[], str]
    """Resolves the secret reference; "" where the connector has none. Raises SourceFault.

    Call it when it is needed, and keep its result no longer.
    """
    organization_id: uuid.UUID
    deadline: float
    """By `time.monotonic()`: reading ends at a batch's boundary before it, and no single call may last longer."""
    unread: Callable[[Sequence[LedgerEntry]], Collection[LedgerEntry]] = set
    """Those objects or files of some that the ledger does not have in this version. Ask for a page at a time."""
    known: Callable[[str], LedgerEntry | None] = lambda name: None
    """The ledger's entry of a name."""
    digest: Callable[[bytes], str] = bytes.hex
    """A digest under a key of the organization; a test, which keeps nothing, needs no key."""
    batch_items: int = 500
    """Items of a batch at most; a test asks for one."""
    was_read: bool = False
    """Whether the source was read to its end before, so that its settings are right."""
    steps: list[Step] = field(default_factory=list)

    @property
    def seconds_left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.1)

    @contextmanager
    def step(self, name: str, detail: str) -> Iterator[None]:
        """A part of reading that a test shows by name, such as `signed in` or `listed`: done, or failed with its mend.

        One of each name is shown: the first that went well, unless a later one failed.
        """
        try:
            yield
        except SourceFault as fault:
            if all(step.ok for step in self.steps):  # else a part of this step has failed, and says more
                self.steps[:] = [step for step in self.steps if step.name != name]  # it went well before
                self.steps.append(Step(name, False, fault.sentence, fault.fix))
            raise
        if name not in {step.name for step in self.steps}:
            self.steps.append(Step(name, True, detail))


class Kind(Protocol):
    """One kind of source."""

    name: ClassVar[str]
    Config: ClassVar[type[KindConfig]]
    secret: ClassVar[str]
    """What `secret_ref` holds for this kind, as the documentation says it; "" if it takes none."""

    def check(self, config: KindConfig) -> list[str]:
        """What is wrong with settings of the right types, in sentences."""
        ...

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        """What is new since `cursor`, in batches; ends when there is nothing more.

        A batch has at most `source.batch_items` items and 4 MiB.

        Raises:
            SourceFault
        """
        ...
