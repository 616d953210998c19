"""The message catalogue: `python -m tests.messages` extracts the sources' strings and writes `locale/`.

Needs no GNU gettext. A `.po` names files but no lines, and is sorted, so that a change of a source changes few lines.
"""

import io
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from tests.databases import CHECKOUT

LOCALE = CHECKOUT / "locale"
SOURCE_LANGUAGE = "en"
PUBLIC = ("templates/notices/public_", "notices/public/")
"""Paths of the pages that affected persons read in the language of their letter."""
_APPS = ("accounts", "config", "connectors", "custody", "decisions", "notices", "retention", "templates")
_TEMPLATES = (".html", ".txt")
_KEYWORDS = DEFAULT_KEYWORDS | {
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}


class _Catalog(Catalog):
    """A catalogue whose header has no dates and versions, so that the same sources give the same file."""

    mime_headers = property(  # type: ignore[assignment]
        lambda self: [
            ("Language", str(self.locale)),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
            ("Plural-Forms", self.plural_forms),
        ]
    )


def languages() -> list[str]:
    return sorted(folder.name for folder in LOCALE.iterdir())


def po(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def translated(language: str) -> Catalog:
    """Return the stored catalogue of a language."""
    with po(language).open("rb") as file:
        return read_po(file, locale=language)


@cache
def extracted() -> Catalog:
    """Return the strings that the sources mark, with the files that have them."""
    catalog = Catalog()
    for path in _sources():
        for _, message, _, context in extract("python", _code(path), keywords=_KEYWORDS):
            catalog.add(message, locations=[(path, None)], context=context)  # type: ignore[list-item]
    return catalog


def is_public(message: Message) -> bool:
    """Whether a page that affected persons read shows the message."""
    return any(path.startswith(PUBLIC) for path, _ in message.locations)


def updated(language: str) -> Catalog:
    """Return the catalogue of a language as the sources need it, with the translations that exist.

    English lists every string. Another language lists the public pages' strings, and others that are translated.
    """
    stored = translated(language) if po(language).exists() else Catalog()
    catalog = _Catalog(language, header_comment="", fuzzy=False)
    for message in extracted():
        known = stored.get(message.id, message.context) if message.id else None
        is_needed = language == SOURCE_LANGUAGE or is_public(message) or (known and any(known.string))
        if message.id and is_needed:
            string = known.string if known else None
            catalog.add(message.id, string, locations=sorted(set(message.locations)), context=message.context)
    return catalog


def files(language: str) -> dict[Path, bytes]:
    """Return the files of a language as the sources need them: the catalogue, and its compiled form."""
    catalog, text, binary = updated(language), io.BytesIO(), io.BytesIO()
    write_po(text, catalog, width=100, sort_output=True, include_lineno=False)
    if language == SOURCE_LANGUAGE:
        return {po(language): text.getvalue()}
    write_mo(binary, catalog)
    return {po(language): text.getvalue(), po(language).with_suffix(".mo"): binary.getvalue()}


def _sources() -> Iterator[str]:
    for app in _APPS:
        for path in sorted((CHECKOUT / app).rglob("*")):
            if path.suffix in (_TEMPLATES if app == "templates" else (".py",)):
                yield path.relative_to(CHECKOUT).as_posix()


def _code(path: str) -> io.BytesIO:
    """Return a source as Python tokens: of a template, its marked strings as calls of gettext."""
    text = (CHECKOUT / path).read_text("utf-8")
    if not path.endswith(".py"):
        text = f"({templatize(text, origin=path)})"  # in brackets, indentation means nothing to Python
    return io.BytesIO(text.encode())


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for language in languages():
        for path, content in files(language).items():
            path.write_bytes(content)


if __name__ == "__main__":
    main()
