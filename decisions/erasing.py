"""What becomes of the index when records are disposed of: rows stay for reports, and what tells of a person goes."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from config import personal_data
from config.personal_data import Fate
from decisions.models import Decision

_SHARED_BY = 6
"""Chains, the own one included. A word that fewer use may be somebody's name."""
_LOOKED_AT = 100
_OF_REVIEWS = ("review_outcome", "reviewer_authority")


def erase(rows: QuerySet[Decision]) -> None:
    """Erase index rows of one organization. Call it in the transaction that disposes of their records."""
    ids = list(rows.values_list("pk", flat=True))
    chosen = Decision.with_disposed.unscoped("the rows given, which are of one organization").filter(pk__in=ids)
    for column in personal_data.of(Decision, Fate.RARE):
        if rare := list(_rare(chosen, column)):
            chosen.filter(**{f"{column}__in": rare}).update(**{column: ""})
    personal_data.erase(chosen)


def _rare(chosen: QuerySet[Decision], column: str) -> Iterator[str]:
    """The values of a column that few other chains of the organization have. No more rows are looked at than tell."""
    for organization_id, value in set(chosen.exclude(**{column: ""}).values_list("organization", column)):
        same = Decision.with_disposed.for_organization(organization_id).filter(**{column: value})
        if column in _OF_REVIEWS:  # which an index finds
            same = same.filter(first__isnull=False)
        if len(set(same.order_by().values_list(Coalesce("first", "pk"), flat=True)[:_LOOKED_AT])) < _SHARED_BY:
            yield value
