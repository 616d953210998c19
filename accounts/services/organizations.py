"""Organizations, their demand for a second factor, and onboarding flags."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from accounts import audit, selectors
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Member, Organization
from accounts.roles import MEMBER_ROLES, Permission, Role
from accounts.services import guards
from accounts.services.guards import OwnersGuard
from accounts.services.lineage import Maker
from accounts.services.members import join
from config.errors import DomainError, NotAllowed


class SlugTaken(DomainError):
    """Another organization has this slug."""

    code = "slug_taken"


def create_organization(*, name: str, owner_email: str, slug: str = "", actor: Actor) -> Organization:
    """Create an organization and its first member, the owner.

    Raises:
        SlugTaken: the slug, given or made from the name, is in use.
    """
    slug = slug or slugify(name)[:50]
    with transaction.atomic():
        try:
            with transaction.atomic():
                organization = Organization.objects.create(name=name, slug=slug)
        except IntegrityError:
            raise SlugTaken(f"The slug {slug} is taken. Choose another with --slug.") from None
        audit.record(
            "organization.created",
            actor=actor,
            organization_id=organization.id,
            object_kind="organization",
            object_id=organization.id,
        )
        join(organization_id=organization.id, email=owner_email, role=Role.OWNER, actor=actor, by=Maker("", None))
    return organization


@requires(Permission.MANAGE_ORGANIZATION)
def require_second_factor(*, caller: Caller, required: bool) -> None:
    """Ask the roles in `CONFIRMED` for an app at sign-in, or stop asking. Counts from their next request.

    Raises:
        OwnersGuard: a key would change it, or the caller would loosen it without a second factor.
    """
    with transaction.atomic():
        organization = Organization.objects.select_for_update().get(pk=caller.organization_id).settled()
        changes = organization.second_factor_required != required
        if changes and caller.actor.kind == "key":
            raise OwnersGuard("An API key does not change who is asked for a second factor. Sign in as an owner.")
        guards.change(caller=caller, row=organization, to={"second_factor_required": required}, page="")
        organization.save(update_fields=["second_factor_required", "loosenings"])
        if changes and organization.second_factor_required == required:
            _audit("organization.second_factor", caller, "organization", caller.organization_id, required=required)


def update_onboarding(*, caller: Caller, flags: Mapping[str, bool]) -> Member | Organization:
    """Set some of the caller's onboarding flags. Return the row that has them.

    Args:
        flags: any of `dismissed`, `opened` and `verified`. The others stay unchanged.

    Raises:
        NotAllowed: the caller is a sender's key, which has no onboarding.
    """
    if caller.role not in MEMBER_ROLES:
        raise NotAllowed
    row = selectors.first_steps_of(caller)
    with transaction.atomic():
        rows: QuerySet[Any] = type(row)._default_manager.select_for_update()
        row.refresh_from_db(from_queryset=rows)
        if not flags:
            return row
        for name, value in flags.items():
            setattr(row, f"onboarding_{name}", value)
        row.save(update_fields=[f"onboarding_{name}" for name in flags])
        if isinstance(row, Member):
            _audit("member.onboarding", caller, "member", row.pk, **flags)
        else:
            _audit("organization.onboarding", caller, "organization", row.pk, **flags)
    return row


def _audit(verb: str, caller: Caller, kind: str, object_id: object, **detail: bool) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind=kind,
        object_id=object_id,
        **detail,
    )
