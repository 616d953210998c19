"""Guards of approvals and revisions, which must match the sealed notice."""

from collections.abc import Collection

from django.db.models import Model

from config import personal_data
from config.leases import RELEASED
from config.personal_data import Fate
from config.row_guards import Guard
from notices.models import Approval, NoticeRevision

_IS_DISPOSED_OF = (
    "EXISTS (SELECT 1 FROM notices_notice n JOIN custody_disposal d ON d.record_id = n.decision_id"
    " WHERE n.id = OLD.notice_id)"
)
_USED = ("notices_notice.decision_id", "custody_disposal.record_id")


def guards() -> list[Guard]:
    """Return the guards. Call it after the models have declared their personal data."""
    changes = _changes(Approval, but={*RELEASED, "record_id"})
    return [
        Guard(Approval, changes=f"{changes} OR {{record_id}} AND OLD.record_id IS NOT NULL", uses=_USED),
        Guard(NoticeRevision, changes=_changes(NoticeRevision), uses=_USED),
    ]


def _changes(model: type[Model], but: Collection[str] = ()) -> str:
    """Return the SQL of a forbidden change. Only a disposal may change a column, if it erases that column."""
    erasable = personal_data.of(model, Fate.EMPTIED)
    fixed = [str(field.column) for field in model._meta.concrete_fields if field.name not in {*erasable, *but}]
    return f"{{{', '.join(fixed)}}} OR {{{', '.join(erasable)}}} AND NOT {_IS_DISPOSED_OF}"
