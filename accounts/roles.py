"""Roles and their permissions: the matrix that every check reads."""

from enum import StrEnum


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    APPROVER = "approver"
    EDITOR = "editor"
    AUDITOR = "auditor"
    SENDER = "sender"
    """For keys alone: ingest, and nothing else."""


class Permission(StrEnum):
    INGEST_RECORDS = "ingest decision records"
    READ_DECISIONS = "read decisions, records and receipts"
    RECONSIDER = "record and check reconsiderations"
    DRAFT_NOTICES = "draft and edit notices"
    APPROVE_NOTICES = "approve and withdraw notices"
    MANAGE_NOTICES = "change how notices are made"
    GRANT_AUTHORITY = "grant members authority to approve notices"
    MANAGE_KEYS = "create, list and revoke API keys"
    MANAGE_MEMBERS = "invite people, change their roles and remove them"
    MANAGE_ORGANIZATION = "change the organization's settings"
    READ_AUDIT = "read the audit trail"
    MANAGE_CONNECTORS = "add, change and test connectors"
    TEST_CUSTODY = "test the storage of a custody provider"
    MANAGE_HOLDS = "place and lift legal holds"
    MANAGE_STORAGE = "choose where records are stored"
    ROTATE_KEYS = "rotate the keys that seal records"
    MANAGE_RETENTION = "change the retention policy"
    DISPOSE = "dispose of records"
    EXPORT_SUBJECTS = "collect all that is kept about a person"


EVERYDAY = frozenset(
    {
        Permission.INGEST_RECORDS,
        Permission.READ_DECISIONS,
        Permission.RECONSIDER,
        Permission.DRAFT_NOTICES,
        Permission.READ_AUDIT,
        Permission.EXPORT_SUBJECTS,
    }
)
"""Permissions that never ask for a second factor: they read, or prepare work that another person approves. Every other
permission, so also each new one, asks: it approves, or changes authority, access, secrets, storage or retention."""

MEMBER_ROLES = tuple(role for role in Role if role is not Role.SENDER)

_EVERYONE = frozenset(MEMBER_ROLES)
_ADMINISTRATION = frozenset({Role.OWNER, Role.ADMIN})
_OWNER = frozenset({Role.OWNER})

MATRIX: dict[Permission, frozenset[Role]] = {
    Permission.INGEST_RECORDS: _ADMINISTRATION | {Role.EDITOR, Role.SENDER},
    Permission.READ_DECISIONS: _EVERYONE,
    Permission.RECONSIDER: _ADMINISTRATION | {Role.APPROVER, Role.EDITOR},
    Permission.DRAFT_NOTICES: _ADMINISTRATION | {Role.EDITOR, Role.APPROVER},
    Permission.APPROVE_NOTICES: _ADMINISTRATION | {Role.APPROVER},
    Permission.MANAGE_NOTICES: _ADMINISTRATION,
    Permission.GRANT_AUTHORITY: _ADMINISTRATION,
    Permission.MANAGE_KEYS: _ADMINISTRATION,
    Permission.MANAGE_MEMBERS: _ADMINISTRATION,
    Permission.MANAGE_ORGANIZATION: _OWNER,
    Permission.READ_AUDIT: _ADMINISTRATION | {Role.AUDITOR},
    Permission.MANAGE_CONNECTORS: _ADMINISTRATION,
    Permission.TEST_CUSTODY: _ADMINISTRATION,
    Permission.MANAGE_HOLDS: _ADMINISTRATION,
    Permission.MANAGE_STORAGE: _OWNER,
    Permission.ROTATE_KEYS: _OWNER,
    Permission.MANAGE_RETENTION: _OWNER,
    Permission.DISPOSE: _OWNER,
    Permission.EXPORT_SUBJECTS: _ADMINISTRATION | {Role.AUDITOR},
}


def allows(role: Role, permission: Permission) -> bool:
    return role in MATRIX[permission]


def refusal(role: Role, permission: Permission) -> str:
    """Return the sentence for a caller whose role lacks a permission."""
    return f"The role {role} may not {permission}."


def permissions(role: Role) -> frozenset[Permission]:
    return frozenset(permission for permission in Permission if allows(role, permission))


def may_give(giver: Role, given: Role) -> bool:
    """Whether the giver's role has all permissions of the role they give."""
    return permissions(given) <= permissions(giver)


CONFIRMED = frozenset(role for role in MEMBER_ROLES if permissions(role) - EVERYDAY)
"""Roles that confirm a second factor if the organization asks for one."""
