"""Stored checks of notices. Without them, each read of a notice about a long record would take seconds.

A check is stored when it is first shown: in the answer to a draft or an edit, or else to the first reader.
Approval does not use them: it checks against the record itself.
"""

import hashlib
import json
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone

from config import db
from config.code_version import code_digest
from custody import selectors as custody
from decisions.selectors import record_of
from notices import check_results, selectors
from notices.check_results import CheckResult
from notices.checklist import Case, RequestedReview
from notices.models import Notice, NoticeRevision, StoredCheck
from notices.services import derived_rows


def check(notice: Notice, revision: NoticeRevision) -> CheckResult:
    """Return the check of a notice's current revision: the stored one while its inputs have not changed.

    It runs after the transaction that made the revision: checking a long record takes seconds of CPU, and SQLite lets
    no other writer in meanwhile.

    Raises:
        Fault: the record cannot be read.
    """
    case = notice.case
    if case is None:
        fetched = custody.fetched(record_of(notice.decision))
        phrasebook = selectors.phrasebook_of(notice.organization_id, notice.language, selectors.settings_for(notice))
        today = _Basis(
            fetched.digest, phrasebook.digest, selectors.delivered_at(notice), selectors.requested_review(notice)
        )
        if stored := _stored(notice, _digest(notice, revision, today)):
            return stored
        case = selectors.case_of(notice, selectors.facts_in(fetched, notice.mapping), phrasebook=phrasebook)
    until = check_results.holds_until(case)
    result = check_results.check(case, revision, is_open=notice.state in Notice.EDITABLE)
    digest, packed = _digest(notice, revision, _basis_of(case)), check_results.packed(result)
    derived_rows.store(StoredCheck(notice=notice, digest=digest, valid_until=until, result=packed), key=["notice"])
    return result


class _Basis(NamedTuple):
    """Inputs of a check beside the notice. Those of a case are what it was made from, even if they changed since."""

    sealed_digest: str
    phrasebook_digest: str
    delivered_at: datetime | None
    requested_review: RequestedReview | None


def _basis_of(case: Case) -> _Basis:
    phrasebook = case.redaction.phrasebook
    return _Basis(case.facts.sealed_digest, phrasebook.digest, case.delivered_at, case.requested_review)


def _stored(notice: Notice, digest: str) -> CheckResult | None:
    rows = StoredCheck.objects.for_organization(notice.organization_id)
    row = db.only(rows.filter(notice=notice.pk, digest=digest))
    is_valid = row and (row.valid_until is None or timezone.now() <= row.valid_until)
    return check_results.unpacked(bytes(row.result)) if row and is_valid else None


def _digest(notice: Notice, revision: NoticeRevision, basis: _Basis) -> str:
    """Return the digest of everything that a check depends on, except the time."""
    pack = selectors.pack_of(notice)
    inputs: dict[str, Any] = {
        "code": code_digest(),
        "record": [str(notice.decision_id), notice.decision.received_at.isoformat()],
        "revision": [revision.number, revision.content, revision.cited, revision.not_applicable],
        "mapping": notice.mapping_id,
        "pack": [pack.digest, notice.pack_digest, notice.pack_version],
        "notice": [notice.state, notice.language, notice.recipient],
        "basis": basis,
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()
