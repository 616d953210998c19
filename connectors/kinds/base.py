"""The interface of a kind of source, and the source that it reads."""

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
"""The place that reading has reached, as JSON; {} is the beginning. Only the kind that wrote it understands it."""


class SourceFault(DomainError):
    """The source cannot be read.

    Args:
        sentence: what is wrong, without any part of a secret or a record.
        fix: what to do, and who does it.
        cause: `config` needs a change of settings and soon stops the connector; `transient` passes without action;
            `system` is a fault of this service.
        retry_after: seconds to wait, if the source named them.
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
    """This machine lacks something that the source needs, such as a secret or a folder. Another machine may have it.

    A poll that ends with this fault does not count as a failure of the connector.
    """

    def __init__(self, sentence: str, *, fix: str, because: str = "") -> None:
        super().__init__(sentence, fix=fix, cause="system", because=because)


class Batch(NamedTuple):
    """Items read up to a place at which reading can continue."""

    items: list[Item]
    cursor: Cursor
    """The place to continue from once the items are in custody."""
    behind_seconds: float | None = None
    """The age of the newest item, or None if the source does not give it."""
    ledger: tuple["LedgerEntry", ...] = ()
    """Objects or files that this batch finishes."""


class LedgerEntry(NamedTuple):
    """The version in which an object or file was read. Neither times nor names show the order of arrival."""

    name: str
    version: str
    """An object's version or ETag, a file's size and time, or a keyed digest of a page's list."""
    note: str = ""
    """State for the next poll of this name, such as the ETag of a page."""


class Step(NamedTuple):
    """One step of a test, in words."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    warns: bool = False
    """Whether the step succeeded with a result that may be unintended."""


Settings = TypeVar("Settings", bound="KindConfig")


class KindConfig(BaseModel):
    """The settings of a kind. Errors in them become the connector's `problems`, never a 422.

    The back office shows a setting's docstring beside its field. Each kind asks pydantic for docstrings, which is slow,
    so kinds are loaded when they are needed.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Format = Field("auto", description="Choose the format of the source data. Gzip is detected.")
    map: FieldMap | None = Field(
        None,
        description='Map the fields of an item to those of a record, such as {"fields": {"decision_id": "/id"}}. '
        "Leave it blank if items are already records.",
    )


@dataclass
class Source(Generic[Settings]):
    """A source to read: its settings, and access to the service around it."""

    config: Settings
    secret: Callable[[], str]
    """Resolve the secret reference; "" if the connector has none. Raises SourceFault.

    Call it where the secret is needed, and do not store the result.
    """
    organization_id: uuid.UUID
    deadline: float
    """By `time.monotonic()`: reading ends at a batch boundary before it, and no single call may last longer."""
    unread: Callable[[Sequence[LedgerEntry]], Collection[LedgerEntry]] = set
    """Return the entries that the ledger does not have in this version. Ask for a page at a time."""
    known: Callable[[str], LedgerEntry | None] = lambda name: None
    """Return the ledger's entry of a name."""
    digest: Callable[[bytes], str] = bytes.hex
    """Return a digest under a key of the organization. A test stores nothing and needs no key."""
    batch_items: int = 500
    """The most items of a batch. A test asks for one."""
    was_read: bool = False
    """Whether the source has been read to its end before, which proves its settings."""
    steps: list[Step] = field(default_factory=list)

    @property
    def seconds_left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.1)

    @contextmanager
    def step(self, name: str, detail: str) -> Iterator[None]:
        """Report a part of reading, such as `signed in` or `listed`, in a test: as done, or as failed with its fix.

        A test shows one step of each name: the first that succeeded, unless a later one failed.
        """
        try:
            yield
        except SourceFault as fault:
            if all(step.ok for step in self.steps):  # otherwise an inner step has failed, and says more
                self.steps[:] = [step for step in self.steps if step.name != name]  # it went well before
                self.steps.append(Step(name, False, fault.sentence, fault.fix))
            raise
        if name not in {step.name for step in self.steps}:
            self.steps.append(Step(name, True, detail))


class Kind(Protocol):
    """The interface of a kind of source."""

    name: ClassVar[str]
    Config: ClassVar[type[KindConfig]]
    secret: ClassVar[str]
    """A description of the secret for the documentation; "" if the kind takes none."""

    def check(self, config: KindConfig) -> list[str]:
        """Return what is wrong with settings of the right types, in sentences."""
        ...

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        """Yield what is new since `cursor`, in batches, until there is nothing more.

        A batch has at most `source.batch_items` items and 4 MiB.

        Raises:
            SourceFault
        """
        ...
