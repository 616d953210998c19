"""Stored checks of notices. Without them, each read of a notice about a long record would take seconds.

Approval does not use them: it checks against the record itself.
"""

import hashlib
import json
from typing import Any

from django.utils import timezone

from config import db
from config.code_version import code_digest
from custody import selectors as custody
from decisions.selectors import record_of
from notices import check_results, selectors
from notices.check_results import CheckResult
from notices.models import Notice, NoticeRevision, Phrase, StoredCheck
from notices.record_paths import Facts
from notices.services import derived_rows


def check(notice: Notice, revision: NoticeRevision) -> CheckResult:
    """Return the check of a notice's current revision: the stored one while its inputs have not changed.

    Raises:
        Fault: the record cannot be read.
    """
    is_open = notice.state in Notice.EDITABLE
    if notice.case:  # its settings may be older than those that a digest would cover now
        return check_results.check(notice.case, revision, is_open=is_open)
    fetched = custody.fetched(record_of(notice.decision))
    digest = _digest(notice, revision, fetched.digest)
    rows = StoredCheck.objects.for_organization(notice.organization_id).filter(notice=notice.pk, digest=digest)
    row = db.only(rows)
    if row and (row.valid_until is None or timezone.now() <= row.valid_until):
        return check_results.unpacked(bytes(row.result))
    case = selectors.case_of(notice, Facts(fetched.open().payload))
    result = check_results.check(case, revision, is_open=is_open)
    until, packed = check_results.holds_until(case), check_results.packed(result)
    derived_rows.store(StoredCheck(notice=notice, digest=digest, valid_until=until, result=packed), key=["notice"])
    return result


def _digest(notice: Notice, revision: NoticeRevision, sealed_digest: str) -> str:
    """Return the digest of everything that a check depends on, except the time."""
    pack, language = selectors.pack_of(notice), notice.language
    own = selectors.settings_of(notice.organization_id)
    phrases = Phrase.objects.for_organization(notice.organization_id).filter(language=language).order_by("key")
    inputs: dict[str, Any] = {
        "code": code_digest(),
        "record": [str(notice.decision_id), sealed_digest, notice.decision.received_at.isoformat()],
        "revision": [revision.number, revision.content, revision.cited, revision.not_applicable],
        "pack": [pack.digest, notice.pack_digest, notice.pack_version],
        "notice": [notice.state, language, notice.recipient],
        "settings": [[field.name, field.value_from_object(own)] for field in own._meta.concrete_fields],
        "phrasebook": list(phrases.values_list("key", "sentence", "label", "withheld")),
        "delivery": selectors.delivered_at(notice),
        "requested_review": selectors.requested_review(notice),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()
