"""Who may do what: the one place where roles and permissions meet."""

from enum import StrEnum


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    APPROVER = "approver"
    EDITOR = "editor"
    AUDITOR = "auditor"


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


CONFIRMED = frozenset({Role.OWNER, Role.APPROVER})
"""Where an organization asks for a second factor, it asks these."""

_EVERYONE = frozenset(Role)
_ADMINISTRATION = frozenset({Role.OWNER, Role.ADMIN})

MATRIX: dict[Permission, frozenset[Role]] = {
    Permission.INGEST_RECORDS: _ADMINISTRATION | {Role.EDITOR},
    Permission.READ_DECISIONS: _EVERYONE,
    Permission.RECONSIDER: _ADMINISTRATION | {Role.APPROVER, Role.EDITOR},
    Permission.DRAFT_NOTICES: _ADMINISTRATION | {Role.EDITOR, Role.APPROVER},
    Permission.APPROVE_NOTICES: _ADMINISTRATION | {Role.APPROVER},
    Permission.MANAGE_NOTICES: _ADMINISTRATION,
    Permission.GRANT_AUTHORITY: _ADMINISTRATION,
    Permission.MANAGE_KEYS: _ADMINISTRATION,
    Permission.MANAGE_MEMBERS: _ADMINISTRATION,
    Permission.MANAGE_ORGANIZATION: frozenset({Role.OWNER}),
    Permission.READ_AUDIT: _ADMINISTRATION | {Role.AUDITOR},
}


def allows(role: Role, permission: Permission) -> bool:
    return role in MATRIX[permission]


def permissions(role: Role) -> frozenset[Permission]:
    return frozenset(each for each in Permission if allows(role, each))
