"""What the documents tell readers to copy works, and prints what they say."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import CHECKOUT, DOCUMENTS, Block, as_pattern, blocks, run
from tests.support.workers import Workers
from tests.system.live import Server

LANGUAGES = ("bash", "python")
RUNNABLE = [path for path in DOCUMENTS if any(block.language in LANGUAGES for block in blocks(path))]


@pytest.mark.parametrize("document", RUNNABLE, ids=lambda path: path.name)
def fault(block: Block, service: Server, desk: Path) -> str:
    """What is wrong when a reader copies this block: nothing if it ends well and prints what its document shows."""
    here = block._replace(code=block.code.replace("http://127.0.0.1:8000", service.base_url))
    done = run(here, desk)
    as_shown = re.fullmatch(as_pattern(block.printed), done.stdout.strip(), re.DOTALL)
    if done.returncode == 0 and not done.stderr and as_shown:
        return ""
    return f"{here.code}\nended with {done.returncode} and printed:\n{done.stdout}{done.stderr}"


@pytest.fixture(autouse=True)
def _shell(service: Server, desk: Path) -> None:
    (desk / ".shell").write_text(f"export URL={service.base_url} KEY={service.key}\n")


@pytest.fixture(scope="module")
def polling(service: Server) -> None:
    """A worker and a clock, as `make run` starts them."""
    started = Workers(service)
    started.worker()
    started.clock()


@pytest.mark.usefixtures("polling")
@pytest.mark.parametrize("document", RUNNABLE, ids=lambda path: path.parent.name + "-" + path.name)
def test_every_block_runs_and_prints_what_the_document_shows(document: Path, service: Server, desk: Path):
    for block in blocks(document):
        if block.language in LANGUAGES:
            assert fault(block, service, desk) == ""


def test_the_readme_checks_a_receipt_with_openssl_and_in_twenty_lines_of_python():
    readme = blocks(CHECKOUT / "README.md")
    (openssl,) = [block for block in readme if "openssl pkeyutl" in block.code]
    assert "Signature Verified Successfully" in openssl.printed
    (python,) = [block for block in readme if "load_pem_public_key" in block.code]
    assert python.printed.startswith("verified")
    assert len(python.code.strip().splitlines()) <= 20


def test_a_changed_record_fails_both_checks_of_the_readme(service: Server, desk: Path):
    """The checks can fail: the same lines, on a record in which one digit differs."""
    readme = blocks(CHECKOUT / "README.md")
    first_record = next(block for block in readme if block.code.startswith("export URL="))
    checks = [block for block in readme if "openssl pkeyutl" in block.code or "load_pem_public_key" in block.code]
    run(first_record._replace(code=first_record.code.replace("http://127.0.0.1:8000", service.base_url)), desk)
    assert [fault(check, service, desk) for check in checks] == ["", ""]
    (desk / "record.json").write_text((desk / "record.json").read_text().replace("31000", "31001"))
    assert all(fault(check, service, desk) for check in checks)
