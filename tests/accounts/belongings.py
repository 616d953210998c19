"""Objects of an organization, made for calls of endpoints."""

import re
from collections.abc import Iterator
from datetime import date
from itertools import count

from django.utils import timezone

from accounts import audit, callers, services
from accounts.callers import Caller
from accounts.models import Member, SignedInSession
from accounts.roles import Role
from accounts.services import invites
from connectors.models import Connector
from decisions.mapping.services import create as create_mapping
from decisions.record.meanings import Entry
from notices.models import AuthorityGrant, Notice, ReviewRequest
from retention.services import place_hold
from tests.accounts.endpoints import APPROVED, RECONSIDERED
from tests.conftest import Api

OUTCOME = {"action": "denied", "reasons": ["The income was not proven."]}


class Belongings:
    """A maker of an organization's objects. A name in a path, such as `{notice}`, is the name of a method here.

    Each call makes a new object, so that callers who approve, withdraw or remove it do not disturb each other.
    `shared` is for callers who change nothing that lasts. `marked` is in all identifiers and texts.
    """

    def __init__(self, api: Api, marked: str = "own") -> None:
        self.api, self.marked = api, marked
        self.owner = Caller(api.organization.pk, Role.OWNER, audit.SYSTEM)
        self._numbers: Iterator[int] = count()
        self._shared: dict[str, str] = {}

    def filled(self, path: str) -> str:
        """Fill a path with a new object for each name in it."""
        return re.sub(r"{(\w+)}", lambda name: str(getattr(self, name[1])()), path)

    def shared(self, path: str) -> str:
        """Fill a path with the same object for a name in every call."""
        for name in set(re.findall(r"{(\w+)}", path)) - self._shared.keys():
            self._shared[name] = str(getattr(self, name)())
        return path.format(**self._shared)

    def decision(self) -> str:
        decision_id = self._name()
        answer = self.api.ingest({"decision_id": decision_id, "outcome": OUTCOME})
        assert answer.status_code == 201
        return decision_id

    def reconsideration(self) -> str:
        return self._made(f"decisions/{self.decision()}/reconsideration", RECONSIDERED)["decision_id"]

    def notice(self) -> str:
        return self._made(f"decisions/{self.decision()}/notices", b'{"recipient": {"name": "%s"}}' % self._marked())[
            "notice_id"
        ]

    def submitted(self) -> str:
        return self._made(f"notices/{self.notice()}/submit", b"")["notice_id"]

    def approved(self) -> str:
        return self._made(f"notices/{self.notice()}/approve", APPROVED)["notice_id"]

    def delivery(self) -> str:
        """Make a delivery and return its part of the path, after the notice."""
        notice = self.approved()
        made = self._made(f"notices/{notice}/deliveries", b'{"channel": "post", "address": "%s"}' % self._marked())
        return f"{notice}/deliveries/{made['delivery_id']}"

    def connector(self) -> str:
        made = Connector.objects.create(
            organization=self.api.organization, kind="directory", name=self.marked, created_by=self.marked
        )
        return str(made.source_id)

    def grant(self) -> int:
        made = AuthorityGrant.objects.create(
            organization=self.api.organization,
            user=Member.objects.get(pk=self.member()).user,
            authority=self.marked,
            valid_from=date(2026, 1, 1),
            granted_by=self.marked,
        )
        return made.pk

    def mapping(self) -> int:
        entries = [Entry.model_validate({"path": "outcome.why", "means": "reason"})]
        made = create_mapping(caller=self.owner, name=self.marked, source=self.marked, entries=entries)
        return made.mapping_id

    def hold(self) -> int:
        made = place_hold(
            caller=self.owner, matter=self.marked, reason=self.marked, filter={"subject_reference": self.marked}
        )
        return made.number

    def review_request(self) -> int:
        made = ReviewRequest.objects.create(
            organization=self.api.organization,
            notice=Notice.objects.get(pk=self.approved()),
            message=self.marked,
            received_at=timezone.now(),
        )
        return made.pk

    def key(self) -> str:
        made, _ = services.create_api_key(
            caller=callers.system(self.api.organization.pk), name=self.marked, role=Role.EDITOR
        )
        return made.key_id

    def invite(self) -> int:
        return invites.invite(caller=self.owner, email=self._address(), role=Role.EDITOR).pk

    def member(self) -> int:
        made = services.add_member(
            caller=callers.system(self.api.organization.pk), email=self._address(), role=Role.EDITOR
        )
        return made.pk

    def session(self) -> int:
        now = timezone.now()
        made = SignedInSession.objects.create(
            user=Member.objects.get(pk=self.member()).user,
            session_key=self._name(),
            client="192.0.2.1",
            agent=self.marked,
            created_at=now,
            last_seen_at=now,
        )
        return made.pk

    def _made(self, path: str, body: bytes) -> dict:
        answer = self.api.post(f"/v1/{path}", body)
        assert answer.status_code in (200, 201), answer.content
        return answer.json()

    def _marked(self) -> bytes:
        return self.marked.encode()

    def _name(self) -> str:
        return f"{self.marked}-{next(self._numbers)}"

    def _address(self) -> str:
        return f"{self._name()}@{self.api.organization.slug}.example"
