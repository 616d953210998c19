"""`custody_fsck` confirms intact records, and names all others."""

from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from typing import Any, NamedTuple

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test import Client

from accounts import audit_seals
from accounts.models import AuditEvent, AuditSeal
from connectors.completeness import compare
from custody import vaults
from custody.inspection_models import Damage, DamageAlert, Inspection
from custody.keys import keyrings
from custody.models import Disposal, Entry, Key, SealedObject, object_key
from custody.services import fsck, send_damage_alerts
from decisions.models import Decision
from notices.models import Notice, NoticeRevision, SealedNotice
from tests.disposals import dispose_of
from tests.notices.conftest import approve_acknowledged, done, drafted
from tests.reconsiderations.conftest import RAW, reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

WHOLE = "Everything in custody is as it was signed."


class Checked(NamedTuple):
    code: int
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def check(*options: str) -> Checked:
    out = StringIO()
    try:
        call_command("custody_fsck", *options, stdout=out)
    except CommandError as error:
        return Checked(error.returncode, [*out.getvalue().splitlines(), str(error)])
    return Checked(0, out.getvalue().splitlines())


def fill(api: Any) -> list[Entry]:
    """Create a decision with a reconsideration and a notice, and another decision."""
    done(api.ingest(RAW))
    done(reconsider(api))
    done(approve_acknowledged(api, drafted(api)))
    done(api.ingest({"decision_id": "loan-2", "outcome": {"action": "granted"}, "system": {"name": "scorer"}}))
    audit_seals.seal_events(until=AuditEvent.objects.latest("at").at.replace(year=2999))
    decisions = Decision.objects.filter(decision_id__in=["loan-1", "loan-2"]).order_by("decision_id")
    return [row.record for row in decisions]


def flip(body: bytes) -> bytes:
    return body[:-1] + bytes([body[-1] ^ 1])


# ── objects, in each kind of vault ──


@pytest.fixture(params=["database", "filesystem", "aws"])
def put(request: pytest.FixtureRequest, api: Any) -> Callable[[Entry, bytes | None], None]:
    """Replace or remove an object's bytes, like a faulty disk or an administrator of the storage."""
    if request.param == "aws":
        storage = request.getfixturevalue("storage_of")("aws")
        request.getfixturevalue("use_storage")(api.organization, storage)

        def in_bucket(entry: Entry, body: bytes | None) -> None:
            name = f"{storage.config['prefix']}/{object_key(entry.organization_id, entry.pk)}"
            storage.remove(name)
            if body is not None:
                storage.replace(name, body)

        return in_bucket
    if request.param == "filesystem":
        root = request.getfixturevalue("filesystem_vault")

        def in_file(entry: Entry, body: bytes | None) -> None:
            path = root / object_key(entry.organization_id, entry.pk)
            path.unlink(missing_ok=True)
            if body is not None:
                path.write_bytes(body)

        return in_file

    def in_row(entry: Entry, body: bytes | None) -> None:
        key = object_key(entry.organization_id, entry.pk)
        with unguarded():
            SealedObject.objects.filter(key=key).delete()
            if body is not None:
                SealedObject.objects.create(key=key, body=body)

    return in_row


HARM: dict[str, Callable[[bytes, bytes], bytes | None]] = {
    "flip": lambda body, other: flip(body),
    "truncation": lambda body, other: body[: len(body) // 2],
    "deletion": lambda body, other: None,
    "swap": lambda body, other: other,
}


def body_of(entry: Entry) -> bytes:
    return vaults.of(entry.target_id).get(object_key(entry.organization_id, entry.pk))


def test_each_damage_to_an_object_is_named_until_it_is_repaired(api, put):
    harmed, other = fill(api)
    whole = check()
    assert (whole.code, whole.lines[-1]) == (0, WHOLE), whole.text
    slug = api.organization.slug
    (counts,) = [line for line in whole.lines if line.startswith(f"{slug}: ")]
    assert f"audit trail sealed since {datetime.now(UTC):%Y-%m-%d}" in whole.text
    for passed in ("2 decision", "1 reconsideration", "1 notice", "4 index row", "4 receipt", "3 key", "4 object"):
        assert passed in counts
    bodies = body_of(harmed), body_of(other)
    for name, harm in HARM.items():
        put(harmed, harm(*bodies))
        damaged = check()
        assert damaged.code == 1, name
        assert f"damaged: decision {harmed.pk}: " in damaged.text, name
        assert WHOLE not in damaged.text
        assert "Too much" not in damaged.text
        assert set(Damage.objects.values_list("name", flat=True)) == {str(harmed.pk)}
        put(harmed, bodies[0])
        assert check().code == 0, name
        assert not Damage.objects.exists()


def test_an_object_without_a_row_is_damage(api, put):
    _, forgotten = fill(api)
    with unguarded():
        Decision.objects.filter(pk=forgotten.pk)._raw_delete("default")
        Entry.objects.filter(pk=forgotten.pk)._raw_delete("default")
    damaged = check("--organization", api.organization.slug)
    assert damaged.code == 1
    assert f"{object_key(forgotten.organization_id, forgotten.pk)}: No row names it:" in damaged.text


def test_an_outage_of_the_vault_is_not_damage(api, filesystem_vault):
    fill(api)
    (filesystem_vault / "MARKER").rename(filesystem_vault / "away")
    silent = check()
    assert silent.code == 3
    assert "not checked: decision " in silent.text
    assert not Damage.objects.exists()
    (filesystem_vault / "away").rename(filesystem_vault / "MARKER")
    assert check().code == 0


# ── rows ──


def row_of(entry: Entry) -> Any:
    return Entry.objects.filter(pk=entry.pk)


def swap(rows: Any, *columns: str) -> None:
    """Swap columns of the first two rows."""
    one, other = rows[:2]
    values = [{column: getattr(row, column) for column in columns} for row in (other, one)]
    for row, changed in zip((one, other), values, strict=True):
        type(row)._base_manager.filter(pk=row.pk).update(**changed)


def decisions() -> Any:
    return Decision.objects.filter(first=None).order_by("decision_id")


def signing() -> Any:
    return Key.objects.filter(purpose="signing")


def wrapping() -> Any:
    return Key.objects.filter(purpose="wrapping")


def events() -> Any:
    return AuditEvent.objects.filter(verb="notice.approved")


HARMED_ROWS: dict[str, tuple[str, Callable[[], object]]] = {
    "a flipped index row": ("index row", lambda: decisions().filter(action="granted").update(action="Granted")),
    "a truncated index row": ("index row", lambda: decisions().filter(action="granted").update(decision_id="loan")),
    "a deleted index row": ("index row", lambda: decisions().filter(action="granted")._raw_delete("default")),
    "swapped index rows": ("index row", lambda: swap(decisions(), "action", "system_name")),
    "a letter's other digest": ("index row", lambda: SealedNotice.objects.update(letter_digest="0" * 64)),
    "a revision of other words": ("parts", lambda: NoticeRevision.objects.update(content={"title": "Other"})),
    "a flipped statement": ("decision", lambda: decisions_entries().update(statement=b"{}")),
    "a truncated signature": ("decision", lambda: decisions_entries().update(signature=b"short")),
    "a back-dated record": ("decision", lambda: decisions_entries().update(received_at="2020-01-01T00:00:00Z")),
    "swapped custody rows": ("decision", lambda: swap(decisions_entries(), "statement", "signature")),
    "a flipped public half": ("key", lambda: signing().update(public_pem=F("key_id"))),
    "a back-dated key": ("key", lambda: signing().update(valid_from="2015-01-01T00:00:00Z")),
    "a truncated secret": ("key", lambda: wrapping().update(wrapped=b"short")),
    "a deleted key": ("key", lambda: Key.objects.filter(purpose="index").delete()),
    "swapped keys": ("key", lambda: swap(Key.objects.order_by("pk"), "wrapped", "public_pem")),
    "a flipped event": ("audit event", lambda: events().update(verb="notice.rejected")),
    "a truncated event": ("audit event", lambda: events().update(actor_label="")),
    "a deleted event": ("audit event", lambda: events()._raw_delete("default")),
    "swapped events": (
        "audit event",
        lambda: swap(AuditEvent.objects.order_by("pk"), "verb", "object_id", "object_kind"),
    ),
    "a deleted sealed notice": (
        "notice",
        lambda: (forget(notice_entry()), SealedNotice.objects.all()._raw_delete("default")),
    ),
    "a sealed notice called a draft": ("parts", lambda: Notice.objects.update(state="draft")),
    "a sealed notice called withdrawn": ("parts", lambda: Notice.objects.update(state="withdrawn")),
    "a forged seal": ("audit event", lambda: AuditSeal.objects.update(mac="0" * 64)),
}


def decisions_entries() -> Any:
    return Entry.objects.filter(kind="decision").order_by("pk")


def notice_entry() -> Entry:
    return SealedNotice.objects.get().record


def forget(entry: Entry) -> None:
    """Remove a record's custody row and object, but not the rows that refer to it."""
    SealedObject.objects.filter(key=object_key(entry.organization_id, entry.pk)).delete()
    if connection.vendor == "postgresql":  # a deferred check of an earlier insert would meet the missing row
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
    row_of(entry)._raw_delete("default")


@pytest.mark.parametrize("name", HARMED_ROWS)
def test_each_damage_to_a_row_is_named(api, name):
    kind, harm = HARMED_ROWS[name]
    fill(api)
    assert check().code == 0
    with unguarded():
        harm()
    keyrings.forget()
    damaged = check()
    assert damaged.code == 1, damaged.text
    assert f"damaged: {kind} " in damaged.text
    assert WHOLE not in damaged.text


def test_an_index_row_without_its_custody_row_is_named(api):
    fill(api)
    for index_row in (decisions().get(action="granted"), SealedNotice.objects.get()):
        entry = index_row.record
        with unguarded():
            forget(entry)
        damaged = check()
        assert damaged.code == 1
        assert (
            f"damaged: index row {entry.pk}: {index_row._meta.label} has it, but there is no custody row."
            in damaged.text
        )
        entry.save(force_insert=True)  # the test's end checks foreign keys


def test_a_disposal_without_its_custody_row_is_named(api):
    entry = fill(api)[1]
    dispose_of(api.organization, "loan-2")
    entry.refresh_from_db()
    with unguarded():
        forget(entry)
    assert f"damaged: disposal {entry.pk}: custody.Disposal has it, but there is no custody row." in check().text
    entry.save(force_insert=True)  # the test's end checks foreign keys


def test_a_forged_disposal_and_a_restored_object_are_named(api):
    entry, _ = fill(api)[::-1]
    body = body_of(entry)
    dispose_of(api.organization, "loan-2")
    assert check().code == 0
    with unguarded():
        SealedObject.objects.create(key=object_key(entry.organization_id, entry.pk), body=body)
        Disposal.objects.update(policy=9)
    damaged = check()
    assert damaged.code == 1
    assert "Its record was disposed of." in damaged.text
    assert f"damaged: disposal {entry.pk}: " in damaged.text


def test_a_guard_that_was_dropped_is_named(api):
    fill(api)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE name LIKE 'guard_custody_key_delete%'")
            cursor.execute(f"DROP TRIGGER {cursor.fetchone()[0]}")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE 'guard_custody_key_delete%'")
            cursor.execute(f"DROP TRIGGER {cursor.fetchone()[0]} ON custody_key")
    damaged = check()
    assert damaged.code == 1
    assert "damaged: guard custody_key: " in damaged.text


# ── progress and the clock ──


def test_a_stopped_check_continues_and_counts_each_item_once(api, monkeypatch):
    harmed, _ = fill(api)
    with unguarded():
        SealedObject.objects.filter(key=object_key(harmed.organization_id, harmed.pk)).delete()
    whole = check()
    monkeypatch.setattr(fsck, "_SAVE_ITEMS", 1)
    fsck.begin(Inspection.Runner.COMMAND, [None, api.organization.pk])
    for _ in range(4):
        next(fsck.inspect(fsck.unfinished(Inspection.Runner.COMMAND)[0]))
    assert fsck.unfinished(Inspection.Runner.COMMAND).exists()
    resumed = check("--resume")
    assert resumed.code == whole.code == 1
    counts = {row.organization_id: row.counts for row in Inspection.objects.all()}
    check()
    assert counts == {row.organization_id: row.counts for row in Inspection.objects.all()}


def test_the_clock_checks_a_slice_at_a_time_and_tells_owners_once(api, monkeypatch, settings):
    harmed, _ = fill(api)
    with unguarded():
        SealedObject.objects.filter(key=object_key(harmed.organization_id, harmed.pk)).delete()
    monkeypatch.setattr(fsck, "_SAVE_ITEMS", 1)
    clock = Inspection.objects.filter(runner=Inspection.Runner.CLOCK)
    runs = 0
    while not runs or clock.filter(finished_at=None).exists():
        fsck.inspect_for_a_while(cpu_seconds=0)
        runs += 1
    assert runs > 5
    assert [row.kind for row in Damage.objects.all()] == ["decision"]
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()["custody"]) == (200, "failing")
    assert DamageAlert.objects.count() == 1
    assert send_damage_alerts() == 1
    (message,) = mail.outbox
    assert str(harmed.pk) in message.body
    clock.update(due_at=harmed.received_at)
    fsck.inspect_for_a_while()
    assert (send_damage_alerts(), DamageAlert.objects.count()) == (0, 1)


# ── other commands and pages ──


def test_no_other_command_or_page_calls_a_lost_record_intact(api):
    harmed, _ = fill(api)
    decided = {"organization_id": api.organization.pk, "system": "scorer", "ids": ["loan-1", "loan-2"]}
    period = {"begin": datetime(2000, 1, 1, tzinfo=UTC), "end": datetime(2999, 1, 1, tzinfo=UTC)}
    assert compare(**decided, **period).missing == []
    with unguarded():
        SealedObject.objects.filter(key=object_key(harmed.organization_id, harmed.pk)).delete()
    assert compare(**decided, **period).missing == ["loan-1"]
    out = StringIO()
    with pytest.raises(CommandError, match="missing from their vault"):
        call_command("custody_reconcile", stdout=out)
    assert f"{harmed.pk} is missing" in out.getvalue()
    assert api.get("/v1/decisions/loan-1/receipt").status_code == 500
    check()
    assert Client().get("/readyz").json()["custody"] == "failing"


def test_reconcile_and_completeness_report_what_a_check_found(api, filesystem_vault):
    harmed, _ = fill(api)
    path = filesystem_vault / object_key(harmed.organization_id, harmed.pk)
    path.write_bytes(flip(path.read_bytes()))
    check()
    with pytest.raises(CommandError, match="custody_fsck names it"):
        call_command("custody_reconcile", stdout=StringIO())
    period = {"begin": datetime(2000, 1, 1, tzinfo=UTC), "end": datetime(2999, 1, 1, tzinfo=UTC)}
    assert compare(organization_id=api.organization.pk, system="x", ids=["loan-1"], **period).missing == ["loan-1"]


def test_the_start_page_and_the_list_of_records_name_damaged_records(api, signed_in):
    harmed, _ = fill(api)
    browser = signed_in()
    assert "Damaged" not in browser.get("/admin/custody/entry/").content.decode()
    with unguarded():
        SealedObject.objects.filter(key=object_key(harmed.organization_id, harmed.pk)).delete()
    check()
    assert "damaged item in custody" in browser.get("/admin/").content.decode()
    assert f"decision {harmed.pk}" in browser.get("/admin/custody/entry/").content.decode()
