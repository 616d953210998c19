from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone
from pydantic import AfterValidator, AliasPath, BeforeValidator, Field

from accounts.models import MAX_KEY_NAME, ApiKey
from accounts.roles import MEMBER_ROLES, Role
from config.http.cursors import Page
from config.http.schemas import SAME_OBJECT, Answer, Id, QueryString, RequestBody
from config.http.timestamps import MomentInBody, Timestamp


def _mail_address(value: str) -> str:
    try:
        if len(value) > 254:  # RFC 5321
            raise ValidationError("too long")
        validate_email(value)
    except ValidationError:
        raise ValueError("not an email address") from None
    return value


def _to_come(moment: datetime) -> datetime:
    if moment <= timezone.now():
        raise ValueError("this time has passed")
    return moment


MailAddress = Annotated[
    str, AfterValidator(_mail_address), Field(max_length=254, json_schema_extra={"format": "email"})
]
ROLES = tuple(role.value for role in MEMBER_ROLES)
KEY_ROLES = tuple(role.value for role in Role)


class KeyIn(RequestBody):
    name: Annotated[str, Field(max_length=MAX_KEY_NAME)]
    role: Literal[KEY_ROLES] | None = Field(  # type: ignore[valid-type]
        None, description="By default, the caller's role. It may not have permissions that the caller's lacks."
    )
    expires_at: Annotated[MomentInBody, AfterValidator(_to_come)] | None = Field(
        None, description="By default: never, or with the calling key."
    )


class OtpRequestIn(RequestBody):
    private: ClassVar = frozenset({"email"})

    email: str
    intent: Annotated[str, Field(max_length=64)] = "sign_in"


class OtpVerifyIn(RequestBody):
    private: ClassVar = frozenset({"email", "code"})

    email: str
    code: Annotated[str, Field(description="The six digits of the mail.")]


class SecondFactorIn(RequestBody):
    private: ClassVar = frozenset({"code"})

    code: Annotated[str, Field(description="The six digits that the authenticator app shows.")]


class InviteIn(RequestBody):
    private: ClassVar = frozenset({"email"})

    email: MailAddress
    role: Literal[ROLES]  # type: ignore[valid-type]


class AcceptInviteIn(RequestBody):
    private: ClassVar = frozenset({"token"})

    token: Annotated[str, Field(description="The last part of the link in the mail.")]


class MemberPatch(RequestBody):
    """With `keep_keys`, the member's keys go on working even if the new role has fewer permissions."""

    role: Literal[ROLES]  # type: ignore[valid-type]
    keep_keys: bool = False


class Removal(QueryString):
    """With `keep_keys`, the member's keys go on working."""

    keep_keys: bool = False


class OrganizationPatch(RequestBody):
    second_factor_required: bool


class OnboardingIn(RequestBody):
    """Any of the flags. The others stay unchanged."""

    dismissed: bool = False
    opened: bool = False
    verified: bool = False


class ListPage(Page):
    """A list without filters."""


def _key_id(key: ApiKey | None) -> str | None:
    return key.key_id if key else None


class KeyOut(Answer):
    key_id: str
    name: str
    role: str
    created_by: str
    made_by_key: Annotated[str | None, BeforeValidator(_key_id)] = Field(validation_alias="making_key")
    created_at: Timestamp
    last_used_at: Timestamp | None
    expires_at: Timestamp | None
    revoked_at: Timestamp | None


class NewKeyOut(KeyOut):
    """`api_key` is the credential itself: shown in this answer and never again."""

    api_key: str


class KeyList(Answer):
    items: list[KeyOut]
    next_cursor: str | None


class Requested(Answer):
    """The same for every address, whether it has an account or not."""

    status: str
    message: str


class SignedIn(Answer):
    """The step reached: `code_required`, `second_factor_required`, `signed_in` or `signed_out`."""

    status: str


class OrganizationOut(Answer):
    id: Id
    slug: str
    name: str


class LooseningOut(Answer):
    """A guard that becomes `to` at `takes_effect_at`, unless an owner cancels that before."""

    guard: str
    to: Any
    asked_by: str
    takes_effect_at: Timestamp


class OrganizationSettings(OrganizationOut):
    second_factor_required: bool
    loosenings: list[LooseningOut]


class MemberOut(Answer):
    member_id: Id = Field(validation_alias="pk")
    email: str = Field(validation_alias=AliasPath("user", "email"))
    name: str = Field(validation_alias=AliasPath("user", "name"))
    role: str
    created_at: Timestamp


class MadeKey(Answer):
    key_id: str
    name: str
    role: str
    revoked_at: Timestamp | None


class MadeInvite(Answer):
    invite_id: Id = Field(validation_alias="pk")
    email: str
    role: str
    revoked_at: Timestamp | None


class MadeMember(Answer):
    member_id: Id = Field(validation_alias="pk")
    email: str = Field(validation_alias=AliasPath("user", "email"))
    role: str


class WithMade(Answer):
    """The lineage of a key or member: keys and invitations made by it, or by keys that it made.

    Until now, `keys` worked and `invites` were open; `revoked_at` is null if they still are. `members` got their role
    by such an invitation or a promotion. They stay: remove the members who should go.
    """

    keys: list[MadeKey]
    invites: list[MadeInvite]
    members: list[MadeMember]


class RevokedKey(WithMade, KeyOut):
    """A revoked key, and the lineage that ended with it."""


class ChangedMember(WithMade, MemberOut):
    """A member who was changed or removed, with their lineage if they lost permissions."""


class MemberList(Answer):
    items: list[MemberOut]
    next_cursor: str | None


class Me(Answer):
    """The caller. `csrf_token` goes into the header X-CSRFToken of a session's changes; a key needs none."""

    kind: str
    label: str
    role: str
    organization: OrganizationOut
    permissions: list[str]
    csrf_token: str | None


class InviteOut(Answer):
    invite_id: Id = Field(validation_alias="pk")
    email: str
    role: str
    status: str
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp


class InviteList(Answer):
    items: list[InviteOut]
    next_cursor: str | None


class OnboardingOut(Answer):
    dismissed: bool = Field(validation_alias="onboarding_dismissed")
    opened: bool = Field(validation_alias="onboarding_opened")
    verified: bool = Field(validation_alias="onboarding_verified")


class SessionOut(Answer):
    session_id: Id = Field(validation_alias="pk")
    client: str
    agent: str
    created_at: Timestamp
    last_seen_at: Timestamp
    current: bool


class SessionList(Answer):
    items: list[SessionOut]
    next_cursor: str | None


class Actor(Answer):
    kind: str = Field(validation_alias="actor_kind")
    id: str = Field(validation_alias="actor_id")
    label: str = Field(validation_alias="actor_label")


class AuditEventOut(Answer):
    event_id: Id = Field(validation_alias="pk")
    at: Timestamp
    verb: str
    actor: Actor = Field(validation_alias=SAME_OBJECT)
    object_kind: str
    object_id: str
    detail: dict[str, Any]


class AuditList(Answer):
    items: list[AuditEventOut]
    next_cursor: str | None
