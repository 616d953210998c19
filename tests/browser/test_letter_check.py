"""The check of a letter in the browser: every genuine file passes, and whatever a forger changes is found.

Where a forgery is about another check than the digest, the page's digest is that of the forged file: so each check is
seen to hold by itself.
"""

import base64
import hashlib
import itertools
import random
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.proofs import Signer, file, forgeries, letter_about

SIZES = [*range(1, 201)]
FORGED_SIZES = [*range(1, 18), 31, 32, 33, 64, 65, 100, 127, 128, 129, 199, 200]
PASSED = {"digest": True, "signature": True, "fields": True, "statements": True, "shown": None}
RUN = """async ([cases, keys]) => {
    const { check } = await import("/static/notices/verify.js");
    const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const results = [];
    for (const [file, digest] of cases) results.push((await check(bytes(file), { digest, keys })).checks);
    return results;
}"""


@pytest.fixture
def checked(page: Page) -> Callable[..., list[dict[str, Any]]]:
    """What the browser finds in files, each given with the digest that the page shows."""

    def run(cases: list[tuple[bytes, str]], *signers: Signer) -> list[dict[str, Any]]:
        files = [[base64.b64encode(content).decode(), digest] for content, digest in cases]
        return page.evaluate(RUN, [files, [{"id": signer.id, "pem": signer.pem} for signer in signers]])

    return run


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_every_genuine_file_passes(checked):
    signer, chance = Signer(), random.Random(1)
    files = [file(letter_about(size, signer, chance).letter) for size in SIZES]
    assert checked([(each, digest(each)) for each in files], Signer(), signer) == [PASSED] * len(SIZES)


def test_every_forgery_is_found_by_the_check_that_is_there_for_it(checked):
    signer, other, chance = Signer(), Signer(), random.Random(2)
    forged = [
        each for size in FORGED_SIZES for each in forgeries(letter_about(size, signer, chance), signer, other, chance)
    ]
    results = checked([(file(letter), digest(file(letter))) for _, _, letter in forged], signer)
    missed = [
        (name, check) for (name, check, _), found in zip(forged, results, strict=True) if found[check] is not False
    ]
    assert missed == []
    assert len({name for name, _, _ in forged}) == 25


def test_a_field_that_is_proved_at_its_place_is_proved_at_no_other(checked):
    signer, chance, files = Signer(), random.Random(3), []
    for size in range(1, 10):
        letter = letter_about(size, signer, chance).letter
        for proof in letter["field_proofs"]:
            right = proof["index"]
            for proof["index"] in {*range(-1, size + 1)} - {right}:
                files.append(file(letter))
            proof["index"] = right
    assert {found["fields"] for found in checked([(each, digest(each)) for each in files], signer)} == {False}
    assert len(files) > 200


def test_a_digest_that_is_not_the_pages_is_found_and_nothing_of_the_file_is_given_out(page):
    signer = Signer()
    content = base64.b64encode(file(letter_about(5, signer, random.Random(3)).letter)).decode()
    result = page.evaluate(
        """async ([file, keys]) => {
            const { check } = await import("/static/notices/verify.js");
            const bytes = Uint8Array.from(atob(file), (character) => character.charCodeAt(0));
            return check(bytes, { digest: "0".repeat(64), keys });
        }""",
        [content, [{"id": signer.id, "pem": signer.pem}]],
    )
    assert result == {"checks": {**PASSED, "digest": False}}


def test_among_the_attachments_of_a_pdf_the_proof_is_found_however_its_streams_end(checked):
    def attached(content: bytes, after_stream: bytes, before_the_end: bytes) -> bytes:
        stream = b"stream" + after_stream + zlib.compress(content) + before_the_end + b"endstream"
        return b"1 0 obj\n<</Type /EmbeddedFile /Filter /FlateDecode>>\n" + stream + b"\nendobj\n"

    signer = Signer()
    letter = letter_about(9, signer, random.Random(4)).letter
    variants = [file({**letter, "padding": "y" * number}) for number in range(256)]  # any last byte
    proofs = [next(each for each in variants if zlib.compress(each).endswith(end)) for end in (b"\n", b"\r", b"")]
    catalog = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n<</Names <</EmbeddedFiles 2 0 R>>>>\n"
    cases = [
        (catalog + attached(b"another file", *ends) + attached(proof, *ends), digest(proof))
        for ends in itertools.product((b"\n", b"\r\n"), (b"", b"\n", b"\r\n"))
        for proof in proofs
    ]
    assert checked(cases, signer) == [PASSED] * 18
