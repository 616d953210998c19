"""What is kept about those who work with the service: members, keys, sessions; and what Django's own tables hold."""

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session

from accounts.models import (
    ApiKey,
    AuditEvent,
    AuditSeal,
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
from config.personal_data import ages, declare, kept

_STAFF = "It is of somebody who works with the service, and goes by no policy of retention."
_MEMBER = "It is a member's, and goes by no policy of retention."
_SETTING = "It is a setting, and names a member of the organization."
_OURS = "One of a few words of this service."
_DIGEST = "It is made from random bytes."
_UNUSED = "Nothing is ever written there."
_CODES = "Rows are deleted after a day, or after 90 days if the code was used."
_SESSIONS = "Rows are deleted when the session ends: at the latest after the longest time that the settings allow."


def declare_all() -> None:
    declare(
        Organization,
        slug=kept("the organization's short name", _STAFF),
        name=kept("its name", _STAFF),
        loosenings=kept("who asked for less second factor, and when it counts", _SETTING),
    )
    declare(
        LooseningMail,
        guard=kept("which safeguard", _OURS),
        asked_by=kept("who asked to loosen it", _SETTING),
        page=kept("where an owner cancels it", _OURS),
    )
    declare(
        User,
        password=kept("nothing", _UNUSED),
        email=kept("a member's mail address", _STAFF),
        name=kept("a member's name", _STAFF),
        totp_secret=kept("the secret of their authenticator app, encrypted", _STAFF),
    )
    declare(
        Member,
        role=kept("what they may do", _OURS),
        maker=kept("the address of the member who gave the role", _MEMBER),
    )
    declare(
        ApiKey,
        key_id=kept("the id of a key", _DIGEST),
        digest=kept("a digest of its secret", _DIGEST),
        name=kept("what the key is called", _STAFF),
        role=kept("what it may do", _OURS),
        created_by=kept("who made it", _STAFF),
        maker=kept("the mail address of the member behind it", _STAFF),
    )
    declare(
        OneTimeCode,
        email=ages("an address for which somebody asked to sign in", _CODES),
        intent=ages("what for", _CODES),
        client=ages("the network address of whoever asked", _CODES),
        browser=ages("a digest of a cookie", _CODES),
        digest=ages("a digest of the code", _CODES),
        new_secret=ages("the secret of an app to enrol, encrypted", _CODES),
    )
    declare(RateCounter, key=ages("a digest of who tried what", "Rows are deleted when their window of time ends."))
    declare(
        Invite,
        email=kept("the address of somebody who was invited to be a member", _STAFF),
        role=kept("as what", _OURS),
        digest=kept("a digest of the link's secret", _DIGEST),
        created_by=kept("who invited them", _STAFF),
        maker=kept("the address of the member behind it", _MEMBER),
    )
    declare(
        SignedInSession,
        session_key=ages("the id of a member's session", _SESSIONS),
        client=ages("the network address of their browser", _SESSIONS),
        agent=ages("what the browser calls itself", _SESSIONS),
    )
    declare(
        KeptAnswer,
        slot=ages("a digest of who asked for what", "Rows are deleted after a day."),
        sealed=ages(
            "an answer, which may show a notice",
            "Rows are deleted after a day, the shortest policy. It is encrypted under the client's Idempotency-Key, "
            "which nobody keeps, and is not given again once what it tells of is disposed of.",
        ),
    )
    declare(
        AuditEvent,
        verb=kept("what was done", _OURS),
        actor_kind=kept("by a member, a key or the service", _OURS),
        actor_id=kept("by which one", _STAFF),
        actor_label=kept("the mail address or name of that member or key", _STAFF),
        object_kind=kept("with what kind of thing", _OURS),
        object_id=kept("the id of that thing", "Ids are random, or cannot be read without a key of the organization."),
        detail=kept("states, counts and roles", "What is written there names no person about whom a record is."),
    )
    declare(
        AuditSeal,
        digests=kept("digests of audit events", _DIGEST),
        mac=kept("a keyed digest of these", _DIGEST),
    )
    declare(
        Pepper,
        wrapped=kept("a secret, encrypted", _DIGEST),
        wrapped_by=kept("the id of the key that it is encrypted under", _DIGEST),
    )
    declare(
        Session,
        session_key=ages("the id of a session", _SESSIONS),
        session_data=ages("who is signed in, and in which organization", _SESSIONS),
    )
    declare(
        LogEntry,
        object_id=kept("nothing", _UNUSED),
        object_repr=kept("nothing", _UNUSED),
        change_message=kept("nothing", _UNUSED),
    )
    declare(Permission, name=kept("the name of a table", _OURS), codename=kept("the same", _OURS))
    declare(Group, name=kept("nothing", _UNUSED))
    declare(ContentType, app_label=kept("the name of an app", _OURS), model=kept("the name of a table", _OURS))
