"""An organization's phrasebook: its own words for codes and fields."""

from collections.abc import Sequence

from django.db import transaction

from accounts import audit
from accounts import selectors as accounts
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from notices.models import Phrase

_PARTS = ("sentence", "label", "withheld")
Author = dict[str, str]


@requires(Permission.MANAGE_NOTICES)
def put_phrases(*, caller: Caller, phrases: Sequence[Phrase]) -> int:
    """Add phrases to the organization's phrasebook, or replace those of the same key and language.

    Args:
        phrases: of no organization yet.
    """
    with transaction.atomic():
        rows = Phrase.objects.for_organization(caller.organization_id)
        rows = rows.filter(language__in={phrase.language for phrase in phrases})
        before = {(row.language, row.key): row for row in rows}
        author = _author(caller.actor)
        for phrase in phrases:
            phrase.organization_id = caller.organization_id
            phrase.authors = _authors(phrase, before.get((phrase.language, phrase.key)), author)
        Phrase.objects.bulk_create(
            phrases,
            update_conflicts=True,
            unique_fields=["organization", "language", "key"],
            update_fields=[*_PARTS, "owner", "approved_version", "authors"],
        )
        _record_change(caller, len(phrases))
    return len(phrases)


@requires(Permission.MANAGE_NOTICES)
def remove_phrase(*, caller: Caller, phrase: Phrase) -> None:
    """Remove a phrase from the phrasebook. Existing notices keep their words."""
    with transaction.atomic():
        Phrase.objects.for_organization(caller.organization_id).filter(pk=phrase.pk).delete()
        _record_change(caller, -1)


def _author(actor: Actor) -> Author | None:
    """Return the actor in the form of `Phrase.authors`, or None for the command line."""
    person = accounts.person_behind(actor)
    return {"kind": actor.kind, "id": actor.id, "mail": person} if person else None


def _authors(phrase: Phrase, before: Phrase | None, author: Author | None) -> dict[str, Author]:
    """Return the last author of each part of a phrase. An author who saves the same words again changes nothing."""
    authors = {}
    for part in _PARTS:
        same = before is not None and _words(getattr(before, part)) == _words(getattr(phrase, part))
        writer = before.authors.get(part) if before and same else author
        if getattr(phrase, part) and writer:
            authors[part] = writer
    return authors


def _words(value: str | bool) -> list[str]:
    """Return the words of a text, because letters print any white space as one space."""
    return str(value).split()


def _record_change(caller: Caller, phrases: int) -> None:
    audit.record(
        "phrasebook.changed",
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="organization",
        object_id=caller.organization_id,
        phrases=phrases,
    )
