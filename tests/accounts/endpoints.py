"""Every endpoint of the API, with the roles that may call it. A new endpoint without an entry here fails a test.

Written out by hand, not read from the code that it checks.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

ADMINISTRATION = {"owner", "admin"}
INGESTION = {"owner", "admin", "editor", "sender"}
OWNERSHIP = {"owner"}
RECONSIDERATION = {"owner", "admin", "approver", "editor"}
DRAFTING = {"owner", "admin", "approver", "editor"}
APPROVAL = {"owner", "admin", "approver"}
INSPECTION = {"owner", "admin", "auditor"}
EVERY_MEMBER = {"owner", "admin", "approver", "editor", "auditor"}
FOR_KEYS_ALONE = {"sender"}

RECONSIDERED = (
    b'{"requested_by": "applicant", "reviewer": "desk 4", "reviewer_authority": "credit officer", '
    b'"outcome": "overturned", "rationale": "new income"}'
)


CONNECTOR = b'{"kind": "directory", "name": "Loans"}'
APPROVED = b'{"approver": "desk 4", "authority": "credit officer"}'
GRANTED = b'{"email": "owner@bank.example", "authority": "credit officer", "valid_from": "2026-01-01"}'
ENTRIES = b'{"entries": [{"path": "outcome.why", "means": "reason"}]}'
MAPPED = b'{"name": "Loans", "system_name": "Loans", "entries": [{"path": "outcome.why", "means": "reason"}]}'
REASON = b'{"reason": "Not so."}'
HOLD = b'{"matter": "Case 7", "reason": "A claim.", "filter": {"action": "denied"}}'


class Endpoint(NamedTuple):
    """An endpoint for keys and members, for members alone, or for anybody, as `callers` says.

    The endpoint accepts `body`, or `as_member` from a signed-in member. `Belongings` makes the identifiers for the
    names in `path`.
    """

    roles: set[str]
    path: str
    body: bytes = b""
    callers: str = "keys and members"
    content_type: str = "application/json"
    as_member: bytes | None = None


ENDPOINTS = {
    "POST auth/otp/request": Endpoint(EVERY_MEMBER, "auth/otp/request", b'{"email": "a@b.example"}', "anybody"),
    "POST auth/otp/verify": Endpoint(
        EVERY_MEMBER, "auth/otp/verify", b'{"email": "a@b.example", "code": "000000"}', "anybody"
    ),
    "POST auth/second-factor": Endpoint(EVERY_MEMBER, "auth/second-factor", b'{"code": "000000"}', "anybody"),
    "POST auth/invites/accept": Endpoint(EVERY_MEMBER, "auth/invites/accept", b'{"token": "1-x"}', "anybody"),
    "GET auth/me": Endpoint(EVERY_MEMBER, "auth/me"),
    "POST auth/sign-out": Endpoint(EVERY_MEMBER, "auth/sign-out", callers="members"),
    "GET auth/sessions": Endpoint(EVERY_MEMBER, "auth/sessions", callers="members"),
    "DELETE auth/sessions/<id:session_id>": Endpoint(EVERY_MEMBER, "auth/sessions/{session}", callers="members"),
    "GET auth/onboarding": Endpoint(EVERY_MEMBER, "auth/onboarding"),
    "PATCH auth/onboarding": Endpoint(EVERY_MEMBER, "auth/onboarding", b'{"opened": true}'),
    "GET auth/invites": Endpoint(ADMINISTRATION, "auth/invites"),
    "POST auth/invites": Endpoint(ADMINISTRATION, "auth/invites", b'{"email": "new@b.example", "role": "editor"}'),
    "DELETE auth/invites/<id:invite_id>": Endpoint(ADMINISTRATION, "auth/invites/{invite}"),
    "GET auth/api-keys": Endpoint(ADMINISTRATION, "auth/api-keys"),
    "POST auth/api-keys": Endpoint(ADMINISTRATION, "auth/api-keys", b'{"name": "new"}'),
    "DELETE auth/api-keys/<slug:key_id>": Endpoint(ADMINISTRATION, "auth/api-keys/{key}"),
    "GET auth/members": Endpoint(ADMINISTRATION, "auth/members"),
    "PATCH auth/members/<id:member_id>": Endpoint(ADMINISTRATION, "auth/members/{member}", b'{"role": "auditor"}'),
    "DELETE auth/members/<id:member_id>": Endpoint(ADMINISTRATION, "auth/members/{member}"),
    "GET auth/organization": Endpoint(EVERY_MEMBER, "auth/organization"),
    "PATCH auth/organization": Endpoint(OWNERSHIP, "auth/organization", b'{"second_factor_required": false}'),
    "GET audit": Endpoint(INSPECTION, "audit"),
    "GET audit/export": Endpoint(INSPECTION, "audit/export"),
    "GET custody": Endpoint(EVERY_MEMBER, "custody"),
    "PUT custody": Endpoint(OWNERSHIP, "custody", b'{"provider": "deployment"}'),
    "GET custody/keys": Endpoint(EVERY_MEMBER, "custody/keys"),
    "POST custody/test": Endpoint(ADMINISTRATION, "custody/test", b'{"provider": "aws"}'),
    "POST ingest/srf": Endpoint(INGESTION, "ingest/srf", b'{"decision_id": "new"}'),
    "POST ingest/srf/batch": Endpoint(
        INGESTION, "ingest/srf/batch", b'{"decision_id": "new"}\n', content_type="application/x-ndjson"
    ),
    "POST decisions/<any:decision_id>/reconsideration": Endpoint(
        RECONSIDERATION, "decisions/{decision}/reconsideration", RECONSIDERED
    ),
    "POST decisions/<any:decision_id>/reconsideration/check": Endpoint(
        RECONSIDERATION, "decisions/{reconsideration}/reconsideration/check", b'{"rationale": "new income"}'
    ),
    "POST decisions/<any:decision_id>/notices": Endpoint(DRAFTING, "decisions/{decision}/notices", b"{}"),
    "GET connectors": Endpoint(ADMINISTRATION, "connectors"),
    "POST connectors": Endpoint(ADMINISTRATION, "connectors", CONNECTOR),
    "POST connectors/test": Endpoint(ADMINISTRATION, "connectors/test", CONNECTOR),
    "POST connectors/preview": Endpoint(
        ADMINISTRATION, "connectors/preview", b'{"map": {"fields": {"decision_id": "/id"}}, "item": {"id": "x"}}'
    ),
    "GET connectors/<str:source_id>": Endpoint(ADMINISTRATION, "connectors/{connector}"),
    "PATCH connectors/<str:source_id>": Endpoint(ADMINISTRATION, "connectors/{connector}", b'{"name": "New"}'),
    "DELETE connectors/<str:source_id>": Endpoint(ADMINISTRATION, "connectors/{connector}"),
    "POST connectors/<str:source_id>/poll": Endpoint(ADMINISTRATION, "connectors/{connector}/poll"),
    "GET connectors/<str:source_id>/runs": Endpoint(ADMINISTRATION, "connectors/{connector}/runs"),
    "GET connectors/<str:source_id>/quarantine": Endpoint(ADMINISTRATION, "connectors/{connector}/quarantine"),
    "POST connectors/<str:source_id>/quarantine/retry": Endpoint(
        ADMINISTRATION, "connectors/{connector}/quarantine/retry", b"{}"
    ),
    "POST connectors/<str:source_id>/quarantine/dismiss": Endpoint(
        ADMINISTRATION, "connectors/{connector}/quarantine/dismiss", b"{}"
    ),
    "POST completeness": Endpoint(
        EVERY_MEMBER,
        "completeness?system=loans&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z",
        b'"loan-1"\n',
        content_type="application/x-ndjson",
    ),
    "POST notices/preview": Endpoint(DRAFTING, "notices/preview", b'{"record": {"decision_id": "new"}}'),
    "GET notices": Endpoint(EVERY_MEMBER, "notices"),
    "GET notices/<str:notice_id>": Endpoint(EVERY_MEMBER, "notices/{notice}"),
    "PATCH notices/<str:notice_id>": Endpoint(DRAFTING, "notices/{notice}", b'{"content": {"title": "New"}}'),
    "PUT notices/<str:notice_id>/not-applicable": Endpoint(
        DRAFTING, "notices/{notice}/not-applicable", b'{"elements": {"inputs": "None were used."}}'
    ),
    "PUT notices/<str:notice_id>/recipient": Endpoint(DRAFTING, "notices/{notice}/recipient", b'{"recipient": {}}'),
    "GET notices/<str:notice_id>/checklist": Endpoint(EVERY_MEMBER, "notices/{notice}/checklist"),
    "GET notices/<str:notice_id>/history": Endpoint(EVERY_MEMBER, "notices/{notice}/history"),
    "GET notices/<str:notice_id>/letter": Endpoint(EVERY_MEMBER, "notices/{notice}/letter"),
    "POST notices/<str:notice_id>/versions": Endpoint(DRAFTING, "notices/{approved}/versions"),
    "POST notices/<str:notice_id>/submit": Endpoint(DRAFTING, "notices/{notice}/submit"),
    "POST notices/<str:notice_id>/approve": Endpoint(
        APPROVAL,
        "notices/{notice}/approve",
        APPROVED,
        as_member=b"{}",  # in their own name, not by a key's claim
    ),
    "POST notices/<str:notice_id>/request-changes": Endpoint(APPROVAL, "notices/{submitted}/request-changes", REASON),
    "POST notices/<str:notice_id>/withdraw": Endpoint(APPROVAL, "notices/{notice}/withdraw"),
    "GET notices/<str:notice_id>/deliveries": Endpoint(EVERY_MEMBER, "notices/{notice}/deliveries"),
    "POST notices/<str:notice_id>/deliveries": Endpoint(
        DRAFTING, "notices/{approved}/deliveries", b'{"channel": "hand"}'
    ),
    "POST notices/<str:notice_id>/deliveries/<id:delivery_id>/return": Endpoint(
        DRAFTING, "notices/{delivery}/return", REASON
    ),
    "GET authority-grants": Endpoint(EVERY_MEMBER, "authority-grants"),
    "POST authority-grants": Endpoint(ADMINISTRATION, "authority-grants", GRANTED),
    "DELETE authority-grants/<id:grant_id>": Endpoint(ADMINISTRATION, "authority-grants/{grant}"),
    "GET mappings": Endpoint(EVERY_MEMBER, "mappings"),
    "POST mappings": Endpoint(ADMINISTRATION, "mappings", MAPPED),
    "POST mappings/propose": Endpoint(EVERY_MEMBER, "mappings/propose", b'{"records": [{"decision_id": "new"}]}'),
    "POST mappings/import": Endpoint(
        EVERY_MEMBER, "mappings/import", b'{"format": "json_schema", "document": "{\\"properties\\": {\\"a\\": {}}}"}'
    ),
    "GET mappings/ready": Endpoint(EVERY_MEMBER, "mappings/ready"),
    "POST mappings/ready/<str:ready>": Endpoint(
        ADMINISTRATION, "mappings/ready/opa", b'{"name": "policy", "source": "policy"}'
    ),
    "POST mappings/read": Endpoint(EVERY_MEMBER, "mappings/read", b'{"record": {"decision_id": "new"}}'),
    "GET mappings/<id:mapping_id>": Endpoint(EVERY_MEMBER, "mappings/{mapping}"),
    "GET mappings/<id:mapping_id>/unknown-fields": Endpoint(EVERY_MEMBER, "mappings/{mapping}/unknown-fields"),
    "POST mappings/<id:mapping_id>/versions": Endpoint(ADMINISTRATION, "mappings/{mapping}/versions", ENTRIES),
    "GET mappings/<id:mapping_id>/versions/<id:number>/export": Endpoint(
        EVERY_MEMBER, "mappings/{mapping}/versions/1/export"
    ),
    "POST mappings/<id:mapping_id>/confirm": Endpoint(ADMINISTRATION, "mappings/{mapping}/confirm", b'{"version": 1}'),
    "GET review-requests": Endpoint(EVERY_MEMBER, "review-requests"),
    "GET review-requests/<id:review_request_id>": Endpoint(RECONSIDERATION, "review-requests/{review_request}"),
    "POST review-requests/<id:review_request_id>/close": Endpoint(
        RECONSIDERATION, "review-requests/{review_request}/close", REASON
    ),
    "GET notice-settings": Endpoint(EVERY_MEMBER, "notice-settings"),
    "PUT notice-settings": Endpoint(ADMINISTRATION, "notice-settings", b'{"default_pack": "general"}'),
    "GET packs": Endpoint(EVERY_MEMBER, "packs"),
    "GET retention": Endpoint(EVERY_MEMBER, "retention"),
    "PUT retention": Endpoint(OWNERSHIP, "retention", b'{"days": 365}'),
    "GET retention/disposals": Endpoint(EVERY_MEMBER, "retention/disposals"),
    "GET retention/holds": Endpoint(INSPECTION, "retention/holds"),
    "POST retention/holds": Endpoint(ADMINISTRATION, "retention/holds", HOLD),
    "POST retention/holds/<id:number>/lift": Endpoint(ADMINISTRATION, "retention/holds/{hold}/lift", REASON),
    "GET decisions/<any:decision_id>/retention": Endpoint(EVERY_MEMBER, "decisions/{decision}/retention"),
    "GET decisions": Endpoint(EVERY_MEMBER, "decisions"),
    "GET decisions/<any:decision_id>": Endpoint(EVERY_MEMBER, "decisions/{decision}"),
    "GET decisions/<any:decision_id>/record": Endpoint(EVERY_MEMBER, "decisions/{decision}/record"),
    "GET decisions/<any:decision_id>/receipt": Endpoint(EVERY_MEMBER, "decisions/{decision}/receipt"),
}
MISSING_IDS = {
    **dict.fromkeys(("decision", "reconsideration", "notice", "submitted", "approved", "connector"), "unknown"),
    **dict.fromkeys(("grant", "hold", "mapping", "review_request", "invite", "member", "session"), 10**12),
    "delivery": f"unknown/deliveries/{10**12}",
    "key": "0" * 16,
}
"""Identifiers of missing objects, for the names in paths."""
OPEN_DOCUMENT = "GET openapi.json"
"""The only path below /v1/ without an operation: the public description of all operations."""


def routed() -> set[str]:
    """Return `METHOD route` of everything that the URL configuration serves below /v1/."""
    return set(_walk("", get_resolver().url_patterns))


def _walk(prefix: str, patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(route, pattern.url_patterns)
        elif route.startswith("v1/"):
            methods = getattr(pattern.callback, "actions", None) or dir(pattern.callback.cls)
            served = [name for name in ("get", "post", "put", "patch", "delete") if name in methods]
            yield from (f"{method.upper()} {route.removeprefix('v1/')}" for method in served)
