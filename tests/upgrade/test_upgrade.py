"""Upgrades of an earlier installation: it keeps its data, and continues to accept records."""

import base64
import hashlib
import hmac
import http.cookiejar
import json
import re
import sqlite3
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pyotp
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from tests.databases import migrated, new_database, suite_url
from tests.system.live import Answer, Client, wait_until
from tests.threads import HANGS_SECONDS
from tests.throwaway import postgresql_program
from tests.upgrade.conftest import Upgraded

REVIEWED = {
    "requested_by": "the applicant",
    "reviewer": "B. Reviewer",
    "reviewer_authority": "credit officer",
    "outcome": "upheld",
    "rationale": "Nothing new.",
}


@pytest.fixture
def client(upgraded: Upgraded) -> Iterator[Client]:
    with upgraded.client() as connected:
        yield connected


@pytest.fixture
def facts(upgraded: Upgraded) -> dict[str, Any]:
    return upgraded.facts


def path(decision_id: str, suffix: str = "") -> str:
    return f"/v1/decisions/{quote(decision_id, safe='')}{suffix}"


def post(client: Client, where: str, body: Any) -> Answer:
    return client.request("POST", where, json.dumps(body).encode())


def done(answer: Answer) -> Any:
    assert answer.status in (200, 201), answer.body
    return answer.json()


def listed(client: Client, name: str, field: str) -> list[Any]:
    """Return a field of every item of a list, page by page."""
    values, cursor = [], ""
    while cursor is not None:
        page = done(client.get(f"/v1/{name}?limit=3&cursor={cursor}"))
        values += [item[field] for item in page["items"]]
        cursor = page["next_cursor"]
    return values


def schema(url: str) -> list[Any]:
    """Return the definitions of tables, columns, constraints, indexes and triggers."""
    if url.startswith("postgres"):
        options = ["--schema-only", "--no-owner", "--no-privileges"]
        command = [postgresql_program("pg_dump"), *options, url]
        dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        # psql's commands have random keys, and PostgreSQL moves the casts of a restored constraint.
        lines = [line for line in dump.splitlines() if not line.startswith("\\")]
        return [re.sub(r"::(text|character varying)(\[\])?|[()]", "", line) for line in lines]
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=HANGS_SECONDS)) as database:
        rows = database.execute("SELECT type, tbl_name, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    # A table that was rebuilt has its columns in another order.
    return sorted((*names, *sorted(sql.removesuffix(")").replace(" (", ", ", 1).split(", "))) for *names, sql in rows)


def test_an_upgraded_database_has_the_schema_of_a_new_one(upgraded):
    with new_database(migrated(suite_url())) as new:
        assert schema(upgraded.environment["DATABASE_URL"]) == schema(new)


def test_every_record_of_both_vaults_is_listed_and_read_byte_for_byte(client, facts):
    assert set(listed(client, "decisions", "decision_id")) >= set(facts["records"])
    for decision_id, record in facts["records"].items():
        assert client.get(path(decision_id, "/record")).body == record.encode()
        assert done(client.get(path(decision_id)))["decision_id"] == decision_id


def test_every_receipt_is_unchanged_and_verifies(client, facts):
    key = load_pem_public_key(facts["public_key_pem"].encode())
    for decision_id, receipt in facts["receipts"].items():
        assert done(client.get(path(decision_id, "/receipt"))) == receipt
        body = base64.b64decode(receipt["envelope"]["payload"])
        kind = receipt["envelope"]["payloadType"].encode()
        signature = base64.b64decode(receipt["envelope"]["signatures"][0]["sig"])
        key.verify(signature, b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body))
        record = facts["records"][decision_id].encode()
        digest = hmac.new(bytes.fromhex(receipt["payload_salt"]), record, hashlib.sha256).hexdigest()
        assert json.loads(body)["subject"][0]["digest"]["hmac-sha256"] == digest
    assert facts["public_key_pem"] in [key["public_key_pem"] for key in done(client.get("/v1/custody/keys"))["items"]]


def test_an_old_record_is_a_replay_and_other_content_a_conflict(client, facts):
    for decision_id, receipt in facts["receipts"].items():
        record = facts["records"][decision_id].encode()
        if receipt["kind"] == "decision":
            answer = client.ingest(record)
            assert (answer.status, answer.json()["envelope"]) == (200, receipt["envelope"])
            assert client.ingest(record.replace(b"denied", b"granted")).status == 409


def test_every_notice_keeps_its_state_and_content(client, facts):
    assert set(listed(client, "notices", "notice_id")) >= {notice["notice_id"] for notice in facts["notices"].values()}
    assert [notice["state"] for notice in facts["notices"].values()] == [
        "draft", "in_review", "approved", "delivered", "withdrawn", "draft",
    ]  # fmt: skip
    for notice in facts["notices"].values():
        now = done(client.get(f"/v1/notices/{notice['notice_id']}"))
        same = ("decision_id", "state", "pack", "revision", "content", "recipient", "created_by", "supersedes")
        assert {name: now[name] for name in same} == {name: notice[name] for name in same}
        for part in ("checklist", "history", "deliveries"):
            done(client.get(f"/v1/notices/{notice['notice_id']}/{part}"))
    waived = done(client.get(f"/v1/notices/{facts['notices']['draft']['notice_id']}"))["elements"]
    assert [element["reason"] for element in waived if element["id"] == "inputs"] == ["None were used."]


def test_every_approval_names_its_record(upgraded):
    named = upgraded.sql(
        "SELECT s.notice_id FROM notices_approval a JOIN notices_sealednotice s"
        " ON s.record_id = a.record_id AND s.notice_id = a.notice_id"
    )
    assert len(named) == len(upgraded.sql("SELECT 1 FROM notices_sealednotice")) >= 3


def test_every_letter_is_rendered_and_approved_letters_have_their_proof(client, facts):
    for name, notice in facts["notices"].items():
        letter = f"/v1/notices/{notice['notice_id']}/letter"
        html = client.get(letter)
        assert (html.status, "Your application was denied." in html.body.decode()) == (200, True)
        assert "Your yearly income is €31,000." in client.get(f"{letter}?format=text").body.decode()
        sealed = name in ("approved", "delivered", "withdrawn")
        assert (client.get(f"{letter}?format=proof").status == 200) is sealed


def test_the_public_page_answers_and_has_the_old_review_request(upgraded, client, facts):
    reader = Browser(upgraded.base_url)
    assert facts["notices"]["delivered"]["content"]["framework"] in reader.open(facts["public"]["page"])
    page = reader.submit(facts["public"]["page"], code=facts["public"]["code"], message="Again.")
    (number,) = listed(client, "review-requests", "review_request_id")
    assert f"R-{number}" in page


def test_old_notices_can_be_approved_and_delivered(client, facts):
    notices = facts["notices"]
    claim = {"approver": "Reviewer 8", "authority": "credit officer"}
    in_review = f"/v1/notices/{notices['in_review']['notice_id']}"
    before = client.request("GET", in_review).body.decode()
    assert "The pack Own policy has changed" in before
    adopted = done(client.request("PATCH", in_review, b'{"content": {}}'))
    acknowledge = [warning["id"] for warning in adopted["warnings"]]
    assert done(post(client, f"{in_review}/approve", claim | {"acknowledge": acknowledge}))["state"] == "approved"
    delivery = {"channel": "hand"}
    done(post(client, f"/v1/notices/{notices['approved']['notice_id']}/deliveries", delivery))
    done(post(client, path("filesystem-plain", "/notices"), {}))


def test_old_chains_accept_new_reconsiderations(client, facts):
    for decision_id in facts["records"]:
        review = done(post(client, path(decision_id, "/reconsideration"), REVIEWED))
        assert client.get(path(review["decision_id"], "/record")).status == 200


def test_new_records_are_accepted(client):
    record = b'{"decision_id": "after the upgrade", "amount": 1.50}'
    assert client.ingest(record).status == 201
    assert client.get(path("after the upgrade", "/record")).body == record


def test_both_vaults_become_storage_targets_and_the_current_one_stays(upgraded):
    targets = upgraded.sql("SELECT id, provider, retired_at IS NULL FROM custody_storagetarget ORDER BY id")
    assert targets == [("database", "database", False), ("filesystem", "filesystem", True)]


def test_a_reserved_record_is_finished(upgraded, client, facts):
    assert upgraded.manage("custody_reconcile") == "1 finished, 0 waiting for their vault"
    left = facts["reserved"]
    assert client.get(path(left["decision_id"], "/record")).body == left["record"].encode()
    assert client.ingest(left["record"].encode()).status == 200


def test_people_keys_invites_grants_and_the_audit_trail_are_kept(client, facts):
    people = ["owner", "approver", "editor", "auditor"]
    assert set(listed(client, "auth/members", "email")) == {f"{name}@bank.example" for name in people}
    assert [bool(moment) for moment in listed(client, "auth/api-keys", "revoked_at")] == [True, False, False]
    assert sorted(listed(client, "auth/invites", "status")) == ["accepted", "open"]
    assert listed(client, "authority-grants", "grant_id") == [facts["grant"]]
    assert {"notice.approved", "second_factor.enrolled"} <= set(listed(client, "audit", "verb"))
    for name in ("notice-settings", "packs", "auth/organization", "auth/me", "audit/export", "openapi.json"):
        assert client.get(f"/v1/{name}").status == 200


def test_an_enrolled_second_factor_still_signs_in_and_every_page_opens(upgraded, facts):
    browser = Browser(upgraded.base_url)
    browser.submit("/sign-in/", email=facts["second_factor"]["email"])
    browser.submit("/sign-in/code/", code=mailed_code(upgraded))
    browser.submit("/sign-in/app/", code=pyotp.TOTP(facts["second_factor"]["secret"]).now())
    pages = set(re.findall(r'href="(/admin/[a-z_/]+/)"', browser.open("/admin/")))
    assert len(pages) >= 5
    for page in pages:
        browser.open(page)


def mailed_code(upgraded: Upgraded) -> str:
    upgraded.manage("shell", "--verbosity", "0", "-c", "from accounts import tasks; tasks.deliver_mail()")
    mails = upgraded.data_dir / "mail"

    def code() -> str:
        texts = [mail.read_text() for mail in mails.glob("*")]
        return next((match[1] for text in texts if (match := re.search(r"^ {4}(\d{6})$", text, re.MULTILINE))), "")

    return wait_until(code, "the code is mailed")


class Browser:
    """A browser that keeps cookies and fills in forms. It raises for a missing or failing page."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)

    def open(self, page: str, data: bytes | None = None) -> str:
        with self.opener.open(self.base_url + page, data, timeout=HANGS_SECONDS) as answer:
            return answer.read().decode()

    def submit(self, page: str, **fields: str) -> str:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.open(page)).group(1)
        return self.open(page, urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": token}).encode())
