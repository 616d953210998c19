"""Changes of mappings: one person proposes a version, another confirms it."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts import audit
from accounts import selectors as accounts
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Member
from accounts.roles import Permission, Role, allows
from config import db
from config.errors import DomainError
from config.http import strict_json
from decisions.mapping import drift
from decisions.mapping.models import Mapping, MappingVersion
from decisions.mapping.version_changes import authors
from decisions.record.meanings import Entry


class NameTaken(DomainError):
    """The organization has a mapping of this name."""

    code = "name_taken"
    sentence = "Your organization has a mapping of this name already. Add a version to it, or choose another name."


class OwnMapping(DomainError):
    """The confirmer wrote the version, and another member can confirm it."""

    code = "own_mapping"
    sentence = "You, or a key of yours, wrote this version. Ask another owner or admin to confirm it."


class NewerVersion(DomainError):
    """There is a newer version than the one to confirm."""

    code = "newer_version"
    sentence = "This mapping has a newer version. Read that one, and confirm it instead."


@requires(Permission.MANAGE_NOTICES)
def create(*, caller: Caller, name: str, entries: Sequence[Entry], **selects: str) -> MappingVersion:
    """Create a mapping with its first version.

    Args:
        selects: the columns of `Mapping` that identify the system's records.

    Raises:
        NameTaken
    """
    with transaction.atomic():
        db.lock(f"mappings of {caller.organization_id}")
        mappings = Mapping.objects.for_organization(caller.organization_id)
        if mappings.filter(name=name).exists():
            raise NameTaken
        mapping = Mapping.objects.create(organization_id=caller.organization_id, name=name, **selects)
        return _add_version(caller, mapping, entries)


@requires(Permission.MANAGE_NOTICES)
def propose(*, caller: Caller, mapping: Mapping, entries: Sequence[Entry]) -> MappingVersion:
    """Add a version with these entries. It applies once it is confirmed. The same entries again add none."""
    with transaction.atomic():
        db.lock(f"mappings of {caller.organization_id}")
        return _add_version(caller, mapping, entries)


@requires(Permission.MANAGE_NOTICES)
def confirm(*, caller: Caller, mapping: Mapping, number: int) -> MappingVersion:
    """Confirm the newest version. From now on, drafts read records of the system by it. Again changes nothing.

    Raises:
        NewerVersion: the version is not the newest.
        OwnMapping: the caller wrote some of it, and another member could confirm it.
    """
    with transaction.atomic():
        db.lock(f"mappings of {caller.organization_id}")
        versions = list(mapping.versions.order_by("number"))
        version = versions[-1]
        if version.number != number:
            raise NewerVersion
        if version.confirmed_at:
            return version
        if reason_against_confirming(caller, versions):
            raise OwnMapping
        version.is_confirmed_alone = any(_is_author(caller.actor, writer) for writer in _writers(versions))
        version.confirmed_at = timezone.now()
        version.confirmed_by = str(caller.actor)
        version.save(update_fields=["confirmed_at", "confirmed_by", "is_confirmed_alone"])
        drift.forget(mapping)
        _record("mapping.confirmed", caller, version, alone=version.is_confirmed_alone)
    return version


def _add_version(caller: Caller, mapping: Mapping, entries: Sequence[Entry]) -> MappingVersion:
    rows: list[dict[str, Any]] = [entry.model_dump(mode="json", by_alias=True, exclude_unset=True) for entry in entries]
    digest = hashlib.sha256(strict_json.canonical(rows)).hexdigest()
    number = mapping.versions.aggregate(last=Max("number"))["last"] or 0
    last = mapping.versions.filter(number=number, digest=digest).first()
    if last:
        return last
    actor = caller.actor
    version: MappingVersion = mapping.versions.create(
        number=number + 1,
        entries=rows,
        digest=digest,
        author_kind=actor.kind,
        author_id=actor.id,
        author_label=actor.label,
        author_mail=accounts.person_behind(actor) or "",
    )
    _record("mapping.proposed", caller, version, entries=len(rows))
    return version


def reason_against_confirming(caller: Caller, versions: Sequence[MappingVersion]) -> str:
    """Return why a caller may not confirm the last version, or "". A member who wrote some of what it changes may, if
    every other member who could confirm it wrote some of it too.

    Args:
        versions: all versions of the mapping, in order.
    """
    writers = _writers(versions)
    is_own = caller.member_id is not None and any(_is_author(caller.actor, writer) for writer in writers)
    return OwnMapping.sentence if is_own and _has_others(caller, writers) else ""


def _writers(versions: Sequence[MappingVersion]) -> list[MappingVersion]:
    """Return the last version, and those that wrote entries in which it differs from the confirmed one."""
    confirmed = max((version.number for version in versions if version.confirmed_at), default=0)
    newer = {version.number: version for version in authors(versions).values() if version.number > confirmed}
    return [*({versions[-1].number: versions[-1]} | newer).values()]


def _is_author(actor: Actor, version: MappingVersion) -> bool:
    """Whether an actor, or the person behind it, wrote a version."""
    if (actor.kind, actor.id) == (version.author_kind, version.author_id):
        return True
    return bool(version.author_mail) and accounts.person_behind(actor) == version.author_mail


def _has_others(caller: Caller, writers: Sequence[MappingVersion]) -> bool:
    """Whether a member who wrote none of it may confirm mappings."""
    members = Member.objects.for_organization(caller.organization_id).values_list("pk", "role", "user__email")
    mails = {writer.author_mail for writer in writers}
    return any(
        pk != caller.member_id and email not in mails and allows(Role(role), Permission.MANAGE_NOTICES)
        for pk, role, email in members
    )


def _record(verb: str, caller: Caller, version: MappingVersion, **detail: Any) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="mapping",
        object_id=version.mapping_id,
        version=version.number,
        digest=version.digest,
        **detail,
    )
