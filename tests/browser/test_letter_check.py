"""The check of a letter in the browser: every genuine file passes, and every forgery is found.

When a forgery targets another check than the digest, the page's digest is that of the forged file, so that each check
is tested separately.
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
    """Return a function that checks files in the browser, each with the digest that the page shows."""

    def run(cases: list[tuple[bytes, str]], *signers: Signer) -> list[dict[str, Any]]:
        files = [[base64.b64encode(content).decode(), digest] for content, digest in cases]
        return page.evaluate(RUN, [files, [{"id": signer.id, "pem": signer.pem} for signer in signers]])

    return run


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_every_genuine_file_passes(checked):
    signer, chance = Signer(), random.Random(1)
    files = [file(letter_about(size, signer, chance).letter) for size in SIZES]
    assert checked([(content, digest(content)) for content in files], Signer(), signer) == [PASSED] * len(SIZES)


def test_every_forgery_fails_its_check(checked):
    signer, other, chance = Signer(), Signer(), random.Random(2)
    forged = [
        case for size in FORGED_SIZES for case in forgeries(letter_about(size, signer, chance), signer, other, chance)
    ]
    results = checked([(file(letter), digest(file(letter))) for _, _, letter in forged], signer)
    missed = [
        (name, check) for (name, check, _), result in zip(forged, results, strict=True) if result[check] is not False
    ]
    assert missed == []
    assert len({name for name, _, _ in forged}) == 25


def test_a_proof_is_valid_only_at_its_index(checked):
    signer, chance, files = Signer(), random.Random(3), []
    for size in range(1, 10):
        letter = letter_about(size, signer, chance).letter
        for proof in letter["field_proofs"]:
            right = proof["index"]
            for proof["index"] in {*range(-1, size + 1)} - {right}:
                files.append(file(letter))
            proof["index"] = right
    results = checked([(content, digest(content)) for content in files], signer)
    assert {result["fields"] for result in results} == {False}
    assert len(files) > 200


def test_a_file_with_another_digest_fails_and_its_content_is_not_shown(page):
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


def test_the_proof_is_found_among_the_attachments_of_a_pdf(checked):
    def attached(content: bytes, after_stream: bytes, before_the_end: bytes) -> bytes:
        stream = b"stream" + after_stream + zlib.compress(content) + before_the_end + b"endstream"
        return b"1 0 obj\n<</Type /EmbeddedFile /Filter /FlateDecode>>\n" + stream + b"\nendobj\n"

    signer = Signer()
    letter = letter_about(9, signer, random.Random(4)).letter
    variants = [file({**letter, "padding": "y" * number}) for number in range(256)]  # any last byte
    proofs = [next(proof for proof in variants if zlib.compress(proof).endswith(end)) for end in (b"\n", b"\r", b"")]
    catalog = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n<</Names <</EmbeddedFiles 2 0 R>>>>\n"
    cases = [
        (catalog + attached(b"another file", *ends) + attached(proof, *ends), digest(proof))
        for ends in itertools.product((b"\n", b"\r\n"), (b"", b"\n", b"\r\n"))
        for proof in proofs
    ]
    assert checked(cases, signer) == [PASSED] * 18
