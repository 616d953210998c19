"""Contributors to the words of a notice."""

from collections.abc import Collection, Iterable, Mapping

from accounts import selectors as accounts
from accounts.audit import Actor
from decisions.models import MappingVersion
from notices.models import Contributor, Notice


def add(notice: Notice, part: Contributor.Part, actor: Actor) -> None:
    """Record that the actor, and the person behind it, had this part in the notice."""
    _add_rows([_row(notice, part, actor.kind, actor.id, accounts.person_behind(actor))])


def add_authors(notice: Notice, authors: Iterable[Mapping[str, str]]) -> None:
    """Record the authors of the phrases that the notice uses.

    Args:
        authors: of `Phrase.authors`.
    """
    part = Contributor.Part.PHRASE
    _add_rows([_row(notice, part, author["kind"], author["id"], author["mail"]) for author in authors])


def add_author_of_mapping(notice: Notice, mapping: MappingVersion) -> None:
    """Record the author of the mapping that the notice reads its record with."""
    _add_rows([_row(notice, Contributor.Part.MAPPING, mapping.author_kind, mapping.author_id, mapping.author_mail)])


def take_over(notice: Notice, earlier: Notice, parts: Collection[Contributor.Part] = tuple(Contributor.Part)) -> None:
    """Copy the contributors of an earlier notice with one of these parts to a notice with the same words."""
    rows = earlier.contributors.filter(part__in=parts)
    _add_rows([_row(notice, Contributor.Part(row.part), row.actor_kind, row.actor_id, row.mail) for row in rows])


def _row(notice: Notice, part: Contributor.Part, kind: str, actor_id: str, mail: str) -> Contributor:
    return Contributor(notice=notice, part=part, actor_kind=kind, actor_id=actor_id, mail=mail)


def _add_rows(rows: list[Contributor]) -> None:
    if rows:
        Contributor.objects.bulk_create(rows, ignore_conflicts=True)
