"""Declarations of personal data about people who work with the service, and of Django's tables."""

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session

from accounts.models import (
    ApiKey,
    AuditEvent,
    AuditSeal,
    AuditSealHead,
    Invite,
    KeptAnswer,
    LooseningMail,
    Member,
    OneTimeCode,
    Organization,
    Pepper,
    RateCounter,
    SignedInSession,
    User,
)
from config.personal_data import ages, declare, retained

_STAFF = "It is about a person who works with the service, so no retention policy applies."
_MEMBER = "It is about a member, so no retention policy applies."
_SETTING = "It is a setting, and names a member of the organization."
_OURS = "One of a few words of this service."
_DIGEST = "It is made from random bytes."
_UNUSED = "The column is always empty."
_CODES = "Rows are deleted after a day, or after 90 days if the code was used."
_SESSIONS = "Rows are deleted when the session ends: at the latest after the longest time that the settings allow."


def declare_all() -> None:
    declare(
        Organization,
        slug=retained("the organization's short name", _STAFF),
        name=retained("its name", _STAFF),
        loosenings=retained("who asked to loosen a safeguard, and when that takes effect", _SETTING),
    )
    declare(
        LooseningMail,
        guard=retained("which safeguard", _OURS),
        asked_by=retained("who asked to loosen it", _SETTING),
        page=retained("where an owner cancels it", _OURS),
    )
    declare(
        User,
        password=retained("nothing", _UNUSED),
        email=retained("a member's email address", _STAFF),
        name=retained("a member's name", _STAFF),
        totp_secret=retained("the secret of their authenticator app, encrypted", _STAFF),
    )
    declare(
        Member,
        role=retained("the member's role", _OURS),
        maker=retained("the address of the member who gave the role", _MEMBER),
    )
    declare(
        ApiKey,
        key_id=retained("the id of a key", _DIGEST),
        digest=retained("a digest of its secret", _DIGEST),
        name=retained("the key's name", _STAFF),
        role=retained("the key's role", _OURS),
        created_by=retained("who made it", _STAFF),
        maker=retained("the email address of the member behind it", _STAFF),
    )
    declare(
        OneTimeCode,
        email=ages("an address for which a code was requested", _CODES),
        intent=ages("the purpose of the code", _CODES),
        client=ages("the network address of the request", _CODES),
        browser=ages("a digest of a cookie", _CODES),
        digest=ages("a digest of the code", _CODES),
        new_secret=ages("the secret of an app to enrol, encrypted", _CODES),
    )
    declare(RateCounter, key=ages("a digest of who tried what", "Rows are deleted after their window of time ends."))
    declare(
        Invite,
        email=retained("the address of an invited person", _STAFF),
        role=retained("the role they are offered", _OURS),
        digest=retained("a digest of the link's secret", _DIGEST),
        created_by=retained("who invited them", _STAFF),
        maker=retained("the address of the member behind it", _MEMBER),
    )
    declare(
        SignedInSession,
        session_key=ages("the id of a member's session", _SESSIONS),
        client=ages("the network address of their browser", _SESSIONS),
        agent=ages("the browser's User-Agent", _SESSIONS),
    )
    declare(
        KeptAnswer,
        slot=ages("a digest of who asked for what", "Rows are deleted after a day."),
        sealed=ages(
            "an answer, which may show a notice",
            "Rows are deleted after a day, the shortest policy. It is encrypted under the client's Idempotency-Key, "
            "which is not stored, and is not repeated once its object is disposed of.",
        ),
    )
    declare(
        AuditEvent,
        verb=retained("what was done", _OURS),
        actor_kind=retained("whether a member, a key or the service acted", _OURS),
        actor_id=retained("the id of that member or key", _STAFF),
        actor_label=retained("the email address or name of that member or key", _STAFF),
        object_kind=retained("the kind of the object", _OURS),
        object_id=retained(
            "the id of the object", "Ids are random, or cannot be read without a key of the organization."
        ),
        detail=retained("states, counts and roles", "It names no person about whom a record is."),
    )
    declare(
        AuditSeal,
        digests=retained("digests of audit events", _DIGEST),
        mac=retained("a keyed digest of these", _DIGEST),
    )
    declare(AuditSealHead, mac=retained("a keyed digest of the seals", _DIGEST))
    declare(
        Pepper,
        wrapped=retained("a secret, encrypted", _DIGEST),
        wrapped_by=retained("the id of the key that it is encrypted under", _DIGEST),
    )
    declare(
        Session,
        session_key=ages("the id of a session", _SESSIONS),
        session_data=ages("who is signed in, and in which organization", _SESSIONS),
    )
    declare(
        LogEntry,
        object_id=retained("nothing", _UNUSED),
        object_repr=retained("nothing", _UNUSED),
        change_message=retained("nothing", _UNUSED),
    )
    declare(Permission, name=retained("the name of a table", _OURS), codename=retained("the same", _OURS))
    declare(Group, name=retained("nothing", _UNUSED))
    declare(ContentType, app_label=retained("the name of an app", _OURS), model=retained("the name of a table", _OURS))
