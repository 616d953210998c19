"""Erasure of index rows at disposal: rows stay for reports, without their personal data."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from config import personal_data
from config.personal_data import Fate
from decisions.models import Decision

_MIN_CHAINS = 6
"""Chains that share a value, including its own. A rarer value may be a person's name."""
_MAX_ROWS_READ = 100
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
    """Yield the values of a column that fewer than `_MIN_CHAINS` chains share. Reads at most `_MAX_ROWS_READ` rows
    for each value."""
    for organization_id, value in set(chosen.exclude(**{column: ""}).values_list("organization", column)):
        same = Decision.with_disposed.for_organization(organization_id).filter(**{column: value})
        if column in _OF_REVIEWS:  # so that the index of reconsiderations serves
            same = same.filter(first__isnull=False)
        if len(set(same.order_by().values_list(Coalesce("first", "pk"), flat=True)[:_MAX_ROWS_READ])) < _MIN_CHAINS:
            yield value
