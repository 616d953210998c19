"""Receipts of the service pass the verifier that it offers to everyone."""

import hashlib
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from custody.models import Key
from custody.sealing import verifier
from decisions import samples
from tests.docs.documents import text
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SAMPLES = samples.synthetic_records()
RAW = SAMPLES[0]


def keys_of(api) -> list[bytes]:
    return [key["public_key_pem"].encode() for key in api.get("/v1/custody/keys").json()["items"]]


def test_the_verifier_confirms_a_receipt_of_the_service_with_its_record(api):
    verdicts = {raw: verifier.verify(api.ingest(raw).content, keys_of(api), raw).verdict for raw in SAMPLES}
    assert {raw: verdict for raw, verdict in verdicts.items() if verdict != "PAYLOAD VERIFIED"} == {}


def test_the_verifier_confirms_the_receipt_of_a_reconsideration(api):
    first = api.ingest(RAW).json()["decision_id"]
    review = (
        b'{"requested_by": "applicant", "reviewer": "desk 4", "reviewer_authority": "credit officer", '
        b'"outcome": "overturned", "rationale": "new income"}'
    )
    answer = api.post(f"/v1/decisions/{first}/reconsideration", review)
    record = api.get(f"/v1/decisions/{answer.json()['decision_id']}/record").content
    assert verifier.verify(answer.content, keys_of(api), record).verdict == "PAYLOAD VERIFIED"


def test_another_organizations_keys_verify_nothing(api, other_api):
    receipt, theirs = api.ingest(RAW).content, other_api.ingest(RAW)
    assert verifier.verify(receipt, keys_of(other_api), RAW).verdict == "FAILED: signature"
    assert verifier.verify(theirs.content, keys_of(api), RAW).verdict == "FAILED: signature"


def test_a_receipt_from_before_a_rotation_passes_with_all_keys_of_the_organization(api, organization):
    receipt = api.ingest(RAW).content
    call_command("custody_rotate_key", organization=organization.slug, purpose="signing", stdout=StringIO())
    assert len(keys_of(api)) == 2
    report = verifier.verify(receipt, [], RAW, lists=[api.get("/v1/custody/keys").content])
    assert (report.verdict, report.skipped) == ("PAYLOAD VERIFIED", [])


def test_the_verifier_is_served_unchanged_to_everyone(db: None):
    answer = Client().get("/verify/verifier.py")
    assert answer.status_code == 200
    assert answer.content == Path(verifier.__file__).read_bytes()
    assert answer["Content-Type"].startswith("text/x-python")
    assert "attachment" in answer["Content-Disposition"]


def test_the_documents_name_the_verifier_by_its_digest():
    digest = hashlib.sha256(Path(verifier.__file__).read_bytes()).hexdigest()
    assert f"`{digest}`" in text("docs/custody.md"), f"Write {digest} there: the verifier has changed."


class Shell:
    """A receipt in a file, and the command."""

    def __init__(self, api, directory: Path) -> None:
        self.organization = api.organization.slug
        self.receipt, self.record = directory / "receipt.json", directory / "record.json"
        self.receipt.write_bytes(api.ingest(RAW).content)
        self.record.write_bytes(RAW)

    def run(self, *options: str) -> list[str]:
        self.out = StringIO()
        call_command("custody_verify", str(self.receipt), *options, stdout=self.out)
        return self.out.getvalue().splitlines()


@pytest.fixture
def shell(api, tmp_path: Path) -> Shell:
    return Shell(api, tmp_path)


def test_the_command_gives_the_verdict_of_the_verifier(shell: Shell):
    named = ("--organization", shell.organization)
    assert shell.run(*named, "--record", str(shell.record))[-1] == f"PAYLOAD VERIFIED; {verifier.CAVEAT}"
    assert shell.run(*named)[-1] == f"PROOF VALID; {verifier.CAVEAT}"


def test_the_command_refuses_a_receipt_from_before_its_key(shell: Shell):
    with unguarded():
        Key.objects.unscoped("of the test").update(created_at=timezone.now() + timedelta(hours=1))
    with pytest.raises(CommandError):
        shell.run()
    assert shell.out.getvalue().splitlines()[-1] == "FAILED: time"


def test_the_command_exits_with_1_if_a_check_fails(shell: Shell):
    shell.record.write_bytes(RAW + b" ")
    with pytest.raises(CommandError, match="does not hold") as refused:
        shell.run("--record", str(shell.record))
    assert refused.value.returncode == 1
    assert shell.out.getvalue().splitlines()[-1] == "FAILED: payload"


def test_the_command_asks_for_the_keys_of_the_organization_that_is_named(shell: Shell, other_api):
    other_api.ingest(RAW)
    with pytest.raises(CommandError):
        shell.run("--organization", other_api.organization.slug)
    assert shell.out.getvalue().splitlines()[-1] == "FAILED: signature"


def test_the_command_verifies_without_any_secret(shell: Shell):
    Key.objects.unscoped("of the test").update(wrapped=b"")
    assert shell.run()[-1] == f"PROOF VALID; {verifier.CAVEAT}"


def test_the_command_names_an_unreadable_file(shell: Shell):
    shell.receipt.unlink()
    with pytest.raises(CommandError, match=r"Cannot read .*receipt\.json: No such file") as refused:
        shell.run()
    assert refused.value.returncode == 2
