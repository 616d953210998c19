"""Organizations and their members."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from accounts import audit
from accounts.audit import Actor
from accounts.models import Member, Organization, User
from accounts.roles import Role


class SlugTaken(Exception):
    """Another organization has this slug."""


def create_organization(*, name: str, owner_email: str, slug: str = "", actor: Actor) -> Organization:
    """An organization with its first member, the owner.

    Raises:
        SlugTaken: the slug, given or made from the name, is in use.
    """
    with transaction.atomic():
        try:
            with transaction.atomic():
                organization = Organization.objects.create(name=name, slug=slug or slugify(name)[:50])
        except IntegrityError:
            raise SlugTaken(slug or slugify(name)[:50]) from None
        audit.record(
            "organization.created",
            actor=actor,
            organization_id=organization.id,
            object_kind="organization",
            object_id=organization.id,
        )
        add_member(organization=organization, email=owner_email, role=Role.OWNER, actor=actor)
    return organization


def add_member(*, organization: Organization, email: str, role: Role, actor: Actor) -> Member:
    """Give a person a role; someone who is a member already keeps theirs."""
    with transaction.atomic():
        user, _ = User.objects.get_or_create(email=email.lower(), defaults={"password": make_password(None)})
        member, added = Member.objects.get_or_create(organization=organization, user=user, defaults={"role": role})
        if added:
            audit.record(
                "member.added",
                actor=actor,
                organization_id=organization.id,
                object_kind="member",
                object_id=member.pk,
                role=role,
            )
    return member


def require_second_factor(*, organization: Organization, required: bool, actor: Actor) -> None:
    """Whether approvers and owners must confirm their sign-in with an app. Counts from their next act."""
    with transaction.atomic():
        if Organization.objects.filter(pk=organization.pk, second_factor_required=not required).update(
            second_factor_required=required
        ):
            audit.record(
                "organization.second_factor",
                actor=actor,
                organization_id=organization.pk,
                object_kind="organization",
                object_id=organization.pk,
                required=required,
            )


def update_onboarding(*, of: Member | Organization, flags: Mapping[str, bool], actor: Actor) -> None:
    """Set some of the first-steps flags of a member or an organization.

    Args:
        of: is brought up to date, too.
        flags: any of `dismissed`, `opened` and `verified`; the others stay as they are.
    """
    with transaction.atomic():
        rows: QuerySet[Any] = type(of)._default_manager.select_for_update()
        of.refresh_from_db(from_queryset=rows)
        if not flags:
            return
        for name, value in flags.items():
            setattr(of, f"onboarding_{name}", value)
        of.save(update_fields=[f"onboarding_{name}" for name in flags])
        if isinstance(of, Member):
            _audit("member.onboarding", actor, of.organization_id, "member", of.pk, flags)
        else:
            _audit("organization.onboarding", actor, of.pk, "organization", of.pk, flags)


def _audit(
    verb: str, actor: Actor, organization_id: uuid.UUID, kind: str, object_id: object, flags: Mapping[str, bool]
) -> None:
    audit.record(verb, actor=actor, organization_id=organization_id, object_kind=kind, object_id=object_id, **flags)
