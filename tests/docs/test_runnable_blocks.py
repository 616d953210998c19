"""Runnable blocks of the documents: they work, and print what the documents show."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import CHECKOUT, DOCUMENTS, Block, as_pattern, blocks, run, start_shell
from tests.support.workers import Workers
from tests.system.live import Server

FIRST_RECORD = CHECKOUT / "docs/first-record.md"
LANGUAGES = ("bash", "python")
RUNNABLE = [path for path in DOCUMENTS if any(block.language in LANGUAGES for block in blocks(path))]


def fault(block: Block, desk: Path) -> str:
    """Return what is wrong with a block, or an empty text if it prints what its document shows."""
    done = run(block, desk)
    as_shown = re.fullmatch(as_pattern(block.printed), done.stdout.strip(), re.DOTALL)
    if done.returncode == 0 and not done.stderr and as_shown:
        return ""
    return f"{block.code}\nended with {done.returncode} and printed:\n{done.stdout}{done.stderr}"


@pytest.fixture(autouse=True)
def _shell(service: Server, desk: Path, tmp_path: Path) -> None:
    """Start the shell of a reader who started the service with this `PORT`."""
    start_shell(desk, PORT=service.port, URL=service.base_url, KEY=service.key, DATA_DIR="", TMPDIR=tmp_path)


@pytest.fixture(scope="module")
def polling(service: Server) -> None:
    """Start a worker and a clock, as `make run` does."""
    started = Workers(service)
    started.worker()
    started.clock()


@pytest.mark.usefixtures("polling")
@pytest.mark.parametrize("document", RUNNABLE, ids=lambda path: path.parent.name + "-" + path.name)
def test_every_block_runs_and_prints_what_the_document_shows(document: Path, desk: Path):
    for block in blocks(document):
        if block.language in LANGUAGES:
            assert fault(block, desk) == ""


def test_the_first_record_leaves_nothing_in_the_checkout(desk: Path, tmp_path: Path):
    before = set(desk.iterdir())
    for block in blocks(FIRST_RECORD):
        run(block, desk)
    assert set(desk.iterdir()) == before
    (directory,) = tmp_path.iterdir()
    assert (directory / "receipt.json").exists()


def test_the_readme_sends_a_record_in_ten_lines():
    (record,) = [block for block in blocks(CHECKOUT / "README.md") if block.language == "bash"]
    assert "/v1/ingest/srf" in record.code
    assert len(record.code.strip().splitlines()) <= 10


def test_the_first_record_is_checked_with_openssl_and_in_twenty_lines_of_python():
    (openssl,) = [block for block in blocks(FIRST_RECORD) if "openssl pkeyutl" in block.code]
    assert "Signature Verified Successfully" in openssl.printed
    (python,) = [block for block in blocks(FIRST_RECORD) if "load_pem_public_key" in block.code]
    assert python.printed.startswith("verified")
    assert len(python.code.strip().splitlines()) <= 20


def test_a_changed_record_fails_both_checks_of_the_first_record(desk: Path):
    """The same checks fail on a record with another digit."""
    page = [block for block in blocks(FIRST_RECORD) if block.language in LANGUAGES]
    checks = [block for block in page if "openssl pkeyutl" in block.code or "load_pem_public_key" in block.code]
    for block in page[: page.index(checks[0])]:
        run(block, desk)
    assert [fault(check, desk) for check in checks] == ["", ""]
    run(Block("bash", "sed -i s/31000/31001/ record.json", ""), desk)
    assert all(fault(check, desk) for check in checks)
