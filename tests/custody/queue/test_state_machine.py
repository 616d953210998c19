"""In any order of events, no acknowledged record is lost or stored twice."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from accounts import audit, callers
from accounts.services import create_organization
from custody import services, vaults
from custody.keys import epoch_keys
from custody.keys.keyrings import Purpose
from custody.models import Entry, WaitingObject
from custody.services import complete, sign
from custody.vaults import VaultUnavailable
from decisions.models import Decision
from tests.conftest import Api
from tests.custody.queue.conftest import Customer
from tests.support.unguarded import unguarded

IDS = st.sampled_from(["a", "b", "c"])
CONTENTS = st.sampled_from([1, 2])


class Killed(BaseException):
    """The process ends here."""


class Custody(RuleBasedStateMachine):
    """Events in the custody of one new organization."""

    new_api: Callable[[], Api]
    customer: Customer
    monkeypatch: pytest.MonkeyPatch

    def __init__(self):
        super().__init__()
        self.api = self.new_api()
        self.of_organization = {"organization": self.api.organization}
        self.acknowledged: dict[str, int] = {}
        self.refused: set[tuple[str, int]] = set()
        self.receipts: dict[str, dict] = {}
        self.vault_is_up = True
        self.time = timezone.now()
        self.monkeypatch.setattr(epoch_keys, "monotonic", lambda: self.time.timestamp())
        self.customer.status = 200
        self.customer.holds(self.api.organization, Purpose.SIGNING, Purpose.WRAPPING)

    def teardown(self):
        self.customer.status = 200
        self.vault_up()
        try:
            for _ in range(2):  # the lease of a killed worker ends, then a pause
                self.work(minutes=20)
            self.every_acknowledged_record_is_here_once()
            assert set(Entry.objects.values_list("state", flat=True)) <= {"stored"}
            for decision_id, content in self.acknowledged.items():
                assert self.api.get(f"/v1/decisions/{decision_id}/receipt").status_code == 200
                assert self.api.ingest({"decision_id": decision_id, "content": content}).status_code == 200
        finally:
            with unguarded():
                WaitingObject.objects.all().delete()
                Entry.objects.update(state="stored")

    # ── what happens ──

    @rule(decision_id=IDS, content=CONTENTS)
    def ingest(self, decision_id, content):
        """Send a new record, a replay, or other content of a known id."""
        known = self.acknowledged.get(decision_id)
        with self.now():
            answer = self.api.ingest({"decision_id": decision_id, "content": content})
        if answer.status_code == 503:
            self.refused.add((decision_id, content))
            return
        if answer.status_code == 409 and known is None:  # a request that got 503 has queued other content
            assert self.refused & {(decision_id, other) for other in (1, 2) if other != content}
            return
        if known is None:
            assert answer.status_code in (200, 201, 202)  # 200: an earlier request that got 503 has stored it
            self.acknowledged[decision_id] = content
        else:
            assert answer.status_code in ((200, 202) if known == content else (409,))
        if answer.status_code in (200, 201):
            assert self.receipts.setdefault(decision_id, answer.json()) == answer.json()

    @rule(minutes=st.sampled_from([0, 1, 20]))
    def work(self, minutes):
        """Run the job, now or later."""
        self.time += timedelta(minutes=minutes)
        with self.now():
            services.reconcile()

    @rule(step=st.sampled_from(["before signatures are saved", "before the put", "after the put"]))
    def crash(self, step):
        """Kill the job in the middle."""
        target = {
            "before signatures are saved": (sign, "_save_signed"),
            "before the put": (vaults.current(), "put_new"),
            "after the put": (complete, "mark_stored"),
        }[step]

        def kill(*args, **options):
            raise Killed

        with self.monkeypatch.context() as patch, self.now():
            patch.setattr(*target, kill)
            with suppress(Killed):
                services.reconcile()

    @rule(is_up=st.booleans())
    def key_management(self, is_up):
        self.customer.status = 200 if is_up else 503

    @rule()
    def vault_down(self):
        self.vault_is_up = False
        vault = vaults.current()

        def unavailable(*args, **options):
            raise VaultUnavailable

        vault.put_new = vault.get = unavailable

    @rule()
    def vault_up(self):
        self.vault_is_up = True
        for name in ("put_new", "get"):
            vars(vaults.current()).pop(name, None)

    @rule(purpose=st.sampled_from([Purpose.SIGNING, Purpose.WRAPPING]), is_theirs=st.booleans())
    def rotate(self, purpose, is_theirs):
        if not is_theirs:
            services.rotate_key(caller=callers.system(self.api.organization.pk), purpose=purpose)
        elif self.customer.status == 200:
            self.customer.holds(self.api.organization, purpose, name=f"{purpose}-{len(self.customer.kms.keys)}")

    # ── what always holds ──

    @invariant()
    def every_acknowledged_record_is_here_once(self):
        entries = Entry.objects.filter(**self.of_organization)
        decisions = Decision.objects.filter(**self.of_organization)
        assert entries.count() == decisions.count()
        assert set(self.acknowledged) <= set(decisions.values_list("decision_id", flat=True))
        unfinished = set(entries.exclude(state="stored").values_list("pk", flat=True))
        assert set(WaitingObject.objects.values_list("pk", flat=True)) == unfinished

    @invariant()
    def what_is_acknowledged_reads_as_it_was_sent(self):
        if self.vault_is_up and self.customer.status == 200:
            for decision_id, content in self.acknowledged.items():
                answer = self.api.get(f"/v1/decisions/{decision_id}/record")
                assert (answer.status_code, answer.json()["content"]) == (200, content)

    def now(self):
        return time_machine.travel(self.time)


@pytest.mark.django_db
def test_no_order_of_events_loses_or_duplicates_an_acknowledged_record(each_vault, customer, api_for, monkeypatch):
    numbers = itertools.count()

    class OfThisTest(Custody):
        def new_api(self):
            name = f"Bank {next(numbers)}"
            return api_for(create_organization(name=name, owner_email="owner@bank.example", actor=audit.SYSTEM))

    OfThisTest.customer, OfThisTest.monkeypatch = customer, monkeypatch
    bounds = settings(max_examples=6, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(OfThisTest, settings=bounds)
