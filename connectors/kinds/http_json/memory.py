"""Memory of the pages that were read: a keyed digest of the list and the validators, by address.

The ledger stores it, like the objects of other kinds. A change of settings makes every page new, because the same items
may become other records.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any, NamedTuple

from connectors.kinds.base import LedgerEntry, Source
from connectors.kinds.batch_bounds import MAX_NOTE
from connectors.kinds.http_json.answers import Response
from connectors.kinds.http_json.pagination import Place

TRUSTED_SECONDS = 24 * 3600
"""After this time a page is requested without conditions, in case the source answers 304 wrongly."""
_MAX_VALIDATOR = 256  # characters of an ETag or a date that are sent back
_MIN_AGE = timedelta(minutes=1)
"""A list that changed more recently may change again within the same second, and keep its `Last-Modified`."""


class Known(NamedTuple):
    """A page that was read to its end."""

    digest: str
    validators: dict[str, str]
    """Headers that request the page only if it has changed; empty if the page is due to be read again."""
    named: Place
    items: int


class Memory:
    """The remembered pages of a source."""

    def __init__(self, source: Source[Any]) -> None:
        self._source = source
        self._settings = source.config.model_dump_json().encode()

    def known(self, url: str) -> Known | None:
        """Return a page as it was last read to its end."""
        entry = self._source.known(self.name(url))
        if entry is None:
            return None
        note = json.loads(entry.note) if entry.note else {}
        is_trusted = 0 <= time.time() - note.get("at", 0) < TRUSTED_SECONDS
        validators = note.get("validators", {}) if is_trusted else {}
        return Known(entry.version, validators, note.get("named"), note.get("items", 0))

    def digest(self, response: Response) -> str:
        """Return a digest of the page's list, under a key, so that no guess of its content can be confirmed.

        The rest of the answer, such as its time, is not part of it.
        """
        return self._source.digest(sha256(self._settings + response.listed(self._source.config)).digest())

    def entry(self, response: Response, digest: str, named: Place, items: int) -> LedgerEntry:
        """Return the ledger entry of a page that was read to its end."""
        validators = dict(_validators(response.headers))
        note = json.dumps({"at": int(time.time()), "validators": validators, "named": named, "items": items})
        return LedgerEntry(self.name(response.url), digest, note if len(note) <= MAX_NOTE else "")

    def name(self, url: str) -> str:
        """Return the name of a page in the ledger. Addresses may be long, and hold tokens."""
        return sha256(self._settings + url.encode()).hexdigest()


def _validators(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    tag, modified = (headers.get(name, "").strip() for name in ("ETag", "Last-Modified"))
    if _can_be_sent(tag):
        yield "If-None-Match", tag
    if _can_be_sent(modified) and _is_settled(modified, headers.get("Date", "")):
        yield "If-Modified-Since", modified


def _can_be_sent(value: str) -> bool:
    return 0 < len(value) <= _MAX_VALIDATOR and value.isascii() and value.isprintable()


def _is_settled(modified: str, date: str) -> bool:
    """Whether a list was last modified long enough before the answer for its time to tell versions apart."""
    with suppress(ValueError, TypeError):
        return parsedate_to_datetime(date) - parsedate_to_datetime(modified) >= _MIN_AGE
    return False
