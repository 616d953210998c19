"""Common parts of the object storage kinds: settings, a listing by name, and reading in parts."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

from pydantic import Field

from connectors.kinds.base import KindConfig, Source, SourceFault
from connectors.kinds.faults import mapped
from connectors.kinds.named_items import Page, Stored

PART_BYTES = 8 * 2**20

Prefix = Annotated[str, Field(max_length=1024)]
Endpoint = Annotated[str, Field(max_length=1024)]


class ObjectConfig(KindConfig, use_attribute_docstrings=True):
    prefix: Prefix = ""
    """Enter the start of the names of objects to read. Leave it blank to read all."""
    endpoint: Endpoint = ""
    """Enter the address of a compatible service. Leave it blank for the cloud's own."""


class Objects(ABC):
    """A `Store` of the objects below a prefix."""

    can_start_after_a_name = True
    errors: ClassVar[tuple[type[Exception], ...]]
    """The exceptions of the cloud's library."""

    def __init__(self, source: Source[Any]) -> None:
        self.source = source

    @abstractmethod
    def listing(self, start: str) -> Iterator[Page]:
        """Yield the pages of the listing as they arrive. They may include things that are not objects."""

    @abstractmethod
    def part(self, thing: Stored, begin: int, end: int) -> bytes | None:
        """Return the bytes of this version from `begin` up to `end`, or None if the version is gone."""

    @abstractmethod
    def refusal(self, error: Exception) -> tuple[str, SourceFault]:
        """Return the step that failed with an error of the library, and its fault."""

    def pages(self, start: str) -> Iterator[Page]:
        listing = self.listing(start)
        while True:
            with self.asked():
                page = next(listing, None)
            for name, detail in (("signed in", "The credentials are accepted."), ("listed", "Objects were listed.")):
                with self.source.step(name, detail):
                    pass
            if page is None:
                return
            yield page._replace(things=[thing for thing in page.things if not thing.name.endswith("/")])

    def chunks(self, thing: Stored) -> Iterable[bytes] | None:
        """Return the parts of an object, the first requested now, or None if the object is gone."""
        if not thing.size:
            return ()
        first = self._asked_part(thing, 0)
        return None if first is None else self._parts(thing, first)

    def is_finished(self, thing: Stored) -> bool:
        return True

    def _parts(self, thing: Stored, part: bytes | None) -> Iterator[bytes]:
        position = 0
        while part is not None:
            yield part
            position += len(part)
            if position >= thing.size:
                return
            part = self._asked_part(thing, position) if part else None
        raise SourceFault(
            f"{thing.name} changed while it was being read.",
            fix="No action needed; it will be read again.",
            cause="transient",
        )

    def _asked_part(self, thing: Stored, begin: int) -> bytes | None:
        with self.asked("read"):
            return self.part(thing, begin, min(begin + PART_BYTES, thing.size))

    @contextmanager
    def asked(self, name: str = "listed") -> Iterator[None]:
        """Turn errors of a request into a failed step."""
        try:
            with mapped():
                yield
        except self.errors as error:
            name, fault = self.refusal(error)
            with self.source.step(name, ""):
                raise fault from None
        except SourceFault as fault:
            with self.source.step(name, ""):
                raise fault
