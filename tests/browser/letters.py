"""Approved letters with their files, and actions on the page that checks them."""

import json
import re
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

from tests.browser.service import Service

RECORD = {
    "decision_id": "letter-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "events": [{"name": "scoring", "loan_to_value": 0.920, "long": "incomeoftheapplicantandofeveryother" * 4}],
    "outcome": {
        "action": "denied",
        "reasons": ["Der Kredit ist <b>größer</b> als 90 % des Werts."],
        "principal_factors": [{"factor": "loan_to_value", "value": 0.920}],
    },
}
REVIEW = {"human_review_available": True, "how_to_request_review": "Write to us.", "rights": ["You may complain."]}
GENUINE = "This is the file of the genuine letter"
PROVED = "This file carries the proof of a genuine letter"
FORGED = "This is not the file of the genuine letter"
SHOWN_FAILED = "Failed: The letter's visible sentences are not those that were approved."
SHOWN_UNKNOWN = "Not checked: Whether the file shows the same sentences when you open it."
FORMATS = {"a4": ("format=pdf&paper=a4", "letter.pdf"), "US letter": ("format=pdf&paper=letter", "letter.pdf"),
           "html": ("format=html", "letter.html"), "proof": ("format=proof", "notice-proof.json")}  # fmt: skip


class File(NamedTuple):
    name: str
    content: bytes


class Letter(NamedTuple):
    """An approved notice: the path of its page, its code, its content, and its files by format."""

    path: str
    code: str
    content: dict
    files: dict[str, File]


def approved(site: Service, decision_id: str, language: str = "en", **content: object) -> Letter:
    site.call("POST", "/v1/ingest/srf", json.dumps({**RECORD, "decision_id": decision_id}).encode())
    recipient = {"name": "Avery Example", "address": ["1 Example Street"], "reference": "A-1", "language": language}
    body = {"recipient": recipient}
    drafted = site.call("POST", f"/v1/decisions/{decision_id}/notices", json.dumps(body).encode())
    notice = f"/v1/notices/{drafted['notice_id']}"
    edited = site.call("PATCH", notice, json.dumps({"content": {**REVIEW, **content}}).encode())
    seen = [warning["id"] for warning in edited["warnings"]]
    claim = {"approver": "Reviewer 7", "authority": "credit officer", "acknowledge": seen}
    done = site.call("POST", f"{notice}/approve", json.dumps(claim).encode())
    with site.live.client() as client:
        files = {
            kind: File(name, client.get(f"{notice}/letter?{query}").body) for kind, (query, name) in FORMATS.items()
        }
        text = client.get(f"{notice}/letter?format=text").body.decode()
    code = next(word for word in text.split() if len(word.strip(".")) == 9 and word[4] == "-")
    return Letter(done["public_address"].removeprefix(site.url), code, done["content"], files)


def choose(page: Page, file: File) -> Locator:
    """Choose a file, and return the heading of the verdict."""
    page.get_by_label("Choose the file").set_input_files(
        {"name": file.name, "mimeType": "application/octet-stream", "buffer": file.content}
    )
    heading = page.locator(".verdict h3")
    expect(heading).to_be_focused()
    return heading


def verdict_on(page: Page, file: File) -> str:
    """Remove the last verdict, choose a file, and return the heading of its verdict."""
    page.evaluate("document.getElementById('outcome').replaceChildren()")
    return choose(page, file).inner_text()


def altered(file: File, old: bytes, new: bytes) -> File:
    assert old in file.content
    return File(file.name, file.content.replace(old, new))


# Forgeries of the visible page. The proof stays intact.
OTHER_SENTENCES = {
    "another word": (b"was denied", b"was granted"),
    "another title": (b"</h1>", b": granted</h1>"),
    "a sentence more": (b'<section class="main_factors">', b'<section class="main_factors"><div>Granted.</div>'),
    "a sentence less": (b'<p dir="ltr">Write to us.</p>', b""),
    "a section more": (b'<section class="sources">', b'<section class="addition"><p>Granted.</p></section>\\g<0>'),
    "a number turned around": (b"0[.]92[.]", b"\xe2\x80\xae29.0."),
}


def forged(file: File, old: bytes, new: bytes) -> File:
    content, number = re.subn(old, new, file.content, count=1)
    assert number == 1
    return File(file.name, content)
