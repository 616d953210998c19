"""An export has all records about one person, with the reasons to keep them, and nothing about others."""

import json
import re
from datetime import date
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import MEMBER_ROLES, Role
from config.errors import NotAllowed
from config.http.timestamps import day_in_words
from custody import selectors, vaults
from custody.disposal import families
from custody.disposal.disposal_statements import Order
from custody.models import Entry, object_key
from custody.record_types import Families
from custody.services import dispose, prepare
from custody.vaults import VaultUnavailable
from decisions.models import Decision
from notices import packs
from retention import services, subjects
from retention.models import Policy
from retention.subjects import ReferenceUnusable
from tests import growth
from tests.conftest import Api
from tests.custody.test_record_types import NOT_DELIVERED
from tests.notices.conftest import RECORD, approve_acknowledged, done, drafted, edit, step
from tests.notices.test_review_requests import ask
from tests.people import caller, events
from tests.reconsiderations.conftest import RAW, reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

PERSON = "application 7"


class Collected:
    """Both files of an export."""

    def __init__(self, api: Api, reference: str = PERSON) -> None:
        machine, readable = BytesIO(), BytesIO()
        self.made = services.export_subject(
            caller=callers.command_line(api.organization.pk), reference=reference, machine=machine, readable=readable
        )
        self.machine = json.loads(machine.getvalue())
        self.readable = readable.getvalue().decode()

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [entry for family in self.machine["families"] for entry in family["records"][kind]]

    @property
    def text(self) -> str:
        """Return the page's visible text, with single spaces."""
        parser = _Text()
        parser.feed(self.readable)
        return re.sub(r"\s+", " ", "".join(parser.texts))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def policy(api: Api, days: int, number: int = 1) -> None:
    Policy.objects.create(
        organization=api.organization, number=number, days=days, created_by="a test", created_at=timezone.now(),
        shortens=False, begins_at=timezone.now(),
    )  # fmt: skip


def hold(api: Api, **covers: Any) -> None:
    owner = callers.command_line(api.organization.pk)
    services.place_hold(caller=owner, matter="SECRET-MATTER", reason="SECRET-REASON", **covers)


def damage(record_id: str) -> None:
    entry = Entry.objects.get(pk=record_id)
    vault, key = vaults.of(entry.target_id), object_key(entry.organization_id, entry.pk)
    body = vault.get(key)
    with unguarded():
        vault.delete(key)
    vault.put_new(key, body[:-1] + bytes([body[-1] ^ 1]))


# ── what is collected ──


@pytest.mark.once
def test_everything_about_the_person_is_collected_byte_for_byte(api, each_vault):
    done(api.ingest(RAW))
    review = done(reconsider(api))
    person = {"name": "Example Person", "address": ["2 Example Street"], "email": "person@home.example"}
    notice = drafted(api, recipient=person)
    edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
    done(approve_acknowledged(api, notice, comment="Read twice."))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    ask(api, notice, message="My income is higher.", email="person@home.example")
    export = Collected(api)
    (decision,), (reconsideration,), (notice_record,) = map(export.of, ("decision", "reconsideration", "notice"))
    assert decision["record"].encode() == RAW
    assert reconsideration["record"].encode() == api.get(f"/v1/decisions/{review['decision_id']}/record").content
    assert notice_record["recipient"] == {**person, "reference": "application 7"}
    assert [entry["number"] for entry in notice_record["revisions"]] == [1, 2]
    assert [entry["channel"] for entry in notice_record["deliveries"]] == ["hand"]
    assert [entry["message"] for entry in notice_record["review_requests"]] == ["My income is higher."]
    assert notice_record["approval"]["comment"] == "Read twice."
    assert export.machine["missing"] == []


def test_the_steps_of_a_notice_are_collected(api):
    done(api.ingest(RAW))
    notice = drafted(api)
    done(step(api, notice, "submit"))
    done(step(api, notice, "request-changes", {"reason": "The income is not theirs."}))
    (notice_record,) = Collected(api).of("notice")
    assert [(entry["kind"], entry["reason"]) for entry in notice_record["steps"]][-1] == (
        "changes_requested",
        "The income is not theirs.",
    )
    assert notice_record["approval"] is None


def test_nothing_of_others_is_collected(api, other_api):
    done(api.ingest(RAW))
    done(other_api.ingest(RAW.replace(b"loan-1", b"theirs")))
    for number, reference in enumerate(["application 77", "application", "APPLICATION 7", " application 7", ""]):
        done(api.ingest(RECORD | {"decision_id": f"other-{number}", "subject": {"reference": reference}}))
    assert [entry["decision_id"] for entry in Collected(api).of("decision")] == ["loan-1"]


@pytest.mark.parametrize("reference", ["customer 7", "4711", "0"])
def test_a_person_is_found_as_the_recipient_of_a_notice_about_any_record_of_the_family(api, reference):
    done(api.ingest(RAW))
    drafted(api, done(reconsider(api))["decision_id"], recipient={"reference": reference})
    assert [entry["decision_id"] for entry in Collected(api, reference).of("decision")] == ["loan-1"]


def test_a_recipient_s_number_is_found_by_its_digits(api):
    done(api.ingest(RAW))
    drafted(api, recipient={"reference": 4711})
    assert [entry["decision_id"] for entry in Collected(api, "4711").of("decision")] == ["loan-1"]
    assert Collected(api, "04711").machine["families"] == []


def test_a_reconsideration_without_a_reference_is_found_with_its_decision(api):
    done(api.ingest(RAW))
    review = done(reconsider(api))["decision_id"]
    assert Decision.objects.get(decision_id=review).subject_reference == ""
    assert [entry["decision_id"] for entry in Collected(api).of("reconsideration")] == [review]


@pytest.mark.parametrize("reference", ["", "x" * 257, "a\x00b"])
def test_an_unusable_reference_is_refused(api, reference):
    with pytest.raises(ReferenceUnusable) as refused:
        Collected(api, reference)
    assert refused.value.status == 422
    assert events("subject.exported") == []


def test_decisions_that_name_another_person_are_counted(api):
    done(api.ingest(RAW))
    drafted(api, recipient={"reference": "the other applicant"})
    organization = api.organization.pk
    asked = Families(organization, subjects.roots_about(organization, "the other applicant"))
    assert subjects.about_others(asked, "the other applicant") == 1
    assert subjects.about_others(asked, PERSON) == 0


# ── what keeps it ──


def test_the_export_has_the_end_of_the_policys_period(api):
    done(api.ingest(RAW))
    policy(api, 400)
    export = Collected(api)
    (retention,) = [entry["kept"] for entry in export.machine["families"]]
    assert retention["policy"] == {"number": 1, "days": 400}
    assert (retention["since"], retention["disposed_from"]) == (
        "2026-01-02T03:04:05.000000Z",
        "2027-02-06T03:04:05.000000Z",
    )
    assert "keeps it for 400 days from 2 Jan 2026." in export.text
    assert "It is destroyed soon after 6 Feb 2027." in export.text


def test_without_a_policy_the_export_has_no_end(api):
    done(api.ingest(RAW))
    export = Collected(api)
    (retention,) = [entry["kept"] for entry in export.machine["families"]]
    assert (retention["policy"], retention["disposed_from"]) == (None, None)
    assert "Example Bank has set no retention period for it." in export.text
    assert "It is destroyed" not in export.text


@pytest.mark.parametrize("days", [None, 30, 30_000], ids=["no policy", "a shorter policy", "a longer policy"])
def test_the_export_has_a_floor_with_its_citation_and_end(api, days):
    done(api.ingest(RAW))
    drafted(api, pack="us_ecoa_fcra")
    if days:
        policy(api, days)
    export = Collected(api)
    (retention,) = [entry["kept"] for entry in export.machine["families"]]
    (law,) = retention["laws"]
    pack = packs.packs()["us_ecoa_fcra"]
    assert (law["source"], law["days"]) == ("us_ecoa_fcra", pack.retention_days)
    assert law["citation"] in {source.citation for source in pack.sources}
    until = day_in_words(date.fromisoformat(law["until"][:10]))
    assert f"at least {law['days']} days, until {until}: {law['citation']}." in export.text
    if days == 30:
        assert retention["disposed_from"] == law["until"]


def test_the_export_has_a_holds_number_without_its_matter(api):
    done(api.ingest(RAW))
    policy(api, 1)
    hold(api, filter={"subject_reference": PERSON})
    export = Collected(api)
    assert [entry["kept"]["holds"] for entry in export.machine["families"]] == [[1]]
    assert "A legal hold (number 1) keeps it for as long as the hold lasts." in export.text
    assert "once no reason named above keeps it" in export.text
    assert "SECRET" not in json.dumps(export.machine) + export.readable


def test_the_export_has_a_sentence_on_unfinished_work(api):
    done(api.ingest(RAW))
    drafted(api)
    export = Collected(api)
    (retention,) = [entry["kept"] for entry in export.machine["families"]]
    assert retention["unfinished"] == [NOT_DELIVERED]
    assert retention["unfinished"][0] in export.text


def disposed(api: Api, roots: set) -> None:
    due = Families(api.organization.pk, list(roots))
    prepared = prepare(due, Order(policy=3, days=1, reason="Its days are over.", actor="system a test"))
    dispose(prepared, due.roots)


def test_destroyed_decisions_are_not_found_and_the_page_explains_it(api):
    done(api.ingest(RAW))
    disposed(api, families.roots_about(api.organization.pk, PERSON))
    export = Collected(api)
    assert export.machine["families"] == []
    assert "Earlier decisions may have been destroyed together with the reference" in export.text


def test_a_decision_destroyed_during_the_export_is_listed_with_its_disposal(api, monkeypatch):
    done(api.ingest(RAW))
    roots = families.roots_about(api.organization.pk, PERSON)
    disposed(api, roots)
    monkeypatch.setattr(families, "roots_about", lambda organization_id, reference: roots)
    export = Collected(api)
    (family,) = export.machine["families"]
    assert [entry["policy"] for entry in family["disposals"]] == [3]
    assert family["disposals"][0]["envelope"]["signatures"]
    assert "under version 3" in export.text


# ── what cannot be read ──


@pytest.mark.once
def test_a_damaged_record_is_listed_as_missing_and_the_others_are_there(api, each_vault):
    done(api.ingest(RAW))
    broken = done(api.ingest(RAW.replace(b"loan-1", b"loan-2")))["record_id"]
    damage(broken)
    export = Collected(api)
    assert [(entry["decision_id"], entry["record"] is None) for entry in export.of("decision")] == [
        ("loan-1", False),
        ("loan-2", True),
    ]
    (missing,) = export.machine["missing"]
    assert missing["record_id"] == broken
    assert missing["reason"].startswith("The stored record is damaged.")
    assert export.of("decision")[1]["action"] == "denied"
    assert f"Record {broken}: The stored record is damaged." in export.text
    assert export.made.missing == export.machine["missing"]


def test_while_the_vault_is_away_all_records_are_listed_as_missing(api, monkeypatch):
    done(api.ingest(RAW))
    done(reconsider(api))

    def away(entry: Entry) -> None:
        raise VaultUnavailable

    monkeypatch.setattr(selectors, "opened", away)
    export = Collected(api)
    assert len(export.machine["missing"]) == 2
    assert export.text.count("cannot be read now, and is missing here") == 2


# ── the page that people read ──

NASTY = "</td><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u202e"


def test_markup_in_records_and_letters_is_escaped_on_the_page(api):
    record = {
        "decision_id": NASTY[:60],
        "subject": {"reference": NASTY},
        "system": {"name": NASTY},
        NASTY: {NASTY: NASTY},
        "outcome": {"action": NASTY, "reasons": [NASTY, 7], "x": ["\u0000", None, True, 0.25]},
        "approval": {"approver": NASTY},
    }
    done(api.ingest(record))
    notice = drafted(api, NASTY[:60].replace("/", "%2F"), recipient={"name": NASTY, "more": {NASTY: [NASTY]}})
    done(edit(api, notice, title=NASTY, human_review_available=True, how_to_request_review=NASTY))
    export = Collected(api, NASTY)
    parser = _Text()
    parser.feed(export.readable)
    assert not parser.tags & {"script", "img", "iframe", "object", "link", "a", "form"}
    assert not any(name in ("src", "href") or name.startswith("on") for name, _ in parser.attributes)
    assert "\x00" not in export.readable
    assert "0.25" in export.text
    assert export.text.count("<script>alert(1)</script>") >= 10


def test_the_page_needs_no_network_and_runs_no_script(api):
    done(api.ingest(RAW))
    page = Collected(api).readable
    assert "default-src 'none'" in page
    assert not re.search(r"(?:https?:)?//|@import|url\(", page.replace("<!doctype html>", ""))


def test_the_page_has_headings_in_plain_words(api):
    done(api.ingest(RAW))
    done(reconsider(api))
    notice = drafted(api, recipient={"name": "Example Person"})
    edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
    done(approve_acknowledged(api, notice))
    done(step(api, notice, "deliveries", {"channel": "post", "address": "2 Example Street"}))
    ask(api, notice, message="My income is higher.")
    text = Collected(api).text
    for heading in (
        "What Example Bank keeps about you",
        "What was decided",
        "What was used",
        "The decision was reviewed",
        "What you were told",
        "What you asked for",
        "How long this is kept, and why",
        "Missing records",
    ):
        assert heading in text
    assert "Result of the review overturned Requested by the applicant" in text
    assert text.count("What was used") == 1
    assert "You wrote: My income is higher." in text
    assert "by post. Address: 2 Example Street" in text
    assert "All records under this reference are on this page." in text


def test_a_huge_record_is_shortened_only_on_the_page(api):
    many = {"decision_id": "many", "subject": {"reference": PERSON}, "x": list(range(3000))}
    done(api.ingest(many))
    export = Collected(api)
    assert "2502 more entries are in the file for machines." in export.text
    assert json.loads(export.of("decision")[0]["record"]) == many


# ── who, and what is left of it ──


def test_only_owners_admins_and_auditors_collect(api):
    done(api.ingest(RAW))
    allowed = set()
    for role in MEMBER_ROLES:
        try:
            services.export_subject(
                caller=caller(api.organization, role), reference=PERSON, machine=BytesIO(), readable=BytesIO()
            )
            allowed.add(role)
        except NotAllowed:
            pass
    assert allowed == {Role.OWNER, Role.ADMIN, Role.AUDITOR}


def test_the_audit_trail_names_the_export_by_its_number_and_no_person(api):
    done(api.ingest(RAW))
    export = Collected(api)
    (event,) = events("subject.exported")
    assert event.object_id == export.machine["number"] == str(export.made.number)
    assert event.detail == {"families": 1}
    assert PERSON not in str(list(AuditEvent.objects.values_list()))


def test_many_families_take_no_more_memory_than_few(api):
    def collect(reference: str) -> None:
        with Path("/dev/null").open("wb") as nowhere:
            services.export_subject(
                caller=callers.command_line(api.organization.pk),
                reference=reference,
                machine=nowhere,
                readable=nowhere,
            )

    for reference, count in (("few", 4), ("many", 30)):
        lines = [
            json.dumps(
                {"decision_id": f"{reference}-{n}", "subject": {"reference": reference}, "text": "x" * 200_000}
            ).encode()
            for n in range(count)
        ]
        answer = api.post("/v1/ingest/srf/batch", b"\n".join(lines), "application/x-ndjson")
        assert answer.getvalue().count(b'"created"') == count
    collect("few")
    assert growth.peak(collect, "many") < 2 * growth.peak(collect, "few")


# ── the command ──


@pytest.fixture
def run(api, tmp_path: Path, capsys):
    def call(reference: str = PERSON, output: Path = tmp_path / "answer") -> str:
        call_command("subject_export", reference=reference, output=output)
        return capsys.readouterr().out

    return call


def test_the_command_writes_both_files_for_its_user_alone(api, run, tmp_path):
    done(api.ingest(RAW))
    output = run()
    answer = tmp_path / "answer"
    assert answer.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in answer.iterdir()} == {
        "subject.json": 0o600,
        "subject.html": 0o600,
    }
    (family,) = json.loads((answer / "subject.json").read_bytes())["families"]
    assert family["records"]["decision"][0]["record"].encode() == RAW
    assert output.startswith("1 decision, with all that belongs to them")
    assert PERSON not in output


@pytest.mark.parametrize("name", ["subject.json", "subject.html"])
def test_the_command_replaces_no_file_and_writes_none_beside_it(api, run, tmp_path, name):
    answer = tmp_path / "answer"
    answer.mkdir()
    (answer / name).write_text("earlier")
    with pytest.raises(CommandError, match=f"{name} exists already"):
        run()
    assert [path.read_text() for path in answer.iterdir()] == ["earlier"]
    assert events("subject.exported") == []


def test_a_command_that_fails_half_way_leaves_no_file(api, run, tmp_path, monkeypatch):
    done(api.ingest(RAW))

    def fail(asked: Families) -> dict:
        raise RuntimeError

    monkeypatch.setattr(families, "export", fail)
    with pytest.raises(RuntimeError):
        run()
    assert list((tmp_path / "answer").iterdir()) == []


def test_the_command_exits_with_1_if_a_record_could_not_be_read(api, run, tmp_path):
    damage(done(api.ingest(RAW))["record_id"])
    with pytest.raises(CommandError, match="could not be read: 1") as refused:
        run()
    assert refused.value.returncode == 1
    assert len(json.loads((tmp_path / "answer/subject.json").read_bytes())["missing"]) == 1


def test_the_command_counts_records_that_name_another_person(api, run):
    done(api.ingest(RAW))
    drafted(api, recipient={"reference": "the other applicant"})
    assert "name another person: 1." in run("the other applicant")


def test_the_command_writes_files_without_decisions_too(api, run, tmp_path):
    run("unknown")
    assert json.loads((tmp_path / "answer/subject.json").read_bytes())["families"] == []
