"""The public page of a letter in a real browser: it checks the files that the service makes, and hinders nobody."""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import violations
from tests.browser.service import Service

RECORD = {
    "decision_id": "letter-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "events": [{"name": "scoring", "loan_to_value": 0.920, "long": "incomeoftheapplicantandofeveryother" * 4}],
    "outcome": {"action": "denied", "reasons": ["Der Kredit ist <b>größer</b> als 90 % des Werts."]},
}
REVIEW = {"human_review_available": True, "how_to_request_review": "Write to us.", "rights": ["You may complain."]}
GENUINE = "This is the file of the genuine letter"
PROVED = "This file carries the proof of a genuine letter"
FORGED = "This is not the file of the genuine letter"
TELEPHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SHOWN_FAILED = "Failed: The letter's visible sentences are not those that were approved."
SHOWN_UNKNOWN = "Not checked: Whether the file shows the same sentences when you open it."
FORMATS = {"a4": ("format=pdf&paper=a4", "letter.pdf"), "US letter": ("format=pdf&paper=letter", "letter.pdf"),
           "html": ("format=html", "letter.html"), "proof": ("format=proof", "notice-proof.json")}  # fmt: skip


class File(NamedTuple):
    name: str
    content: bytes


class Letter(NamedTuple):
    """An approved notice: the path of its page, the code in it, its content, and its files by format."""

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
    site.call("PATCH", notice, json.dumps({"content": {**REVIEW, **content}}).encode())
    claim = {"approver": "Reviewer 7", "authority": "credit officer"}
    done = site.call("POST", f"{notice}/approve", json.dumps(claim).encode())
    with site.live.client() as client:
        files = {
            kind: File(name, client.get(f"{notice}/letter?{query}").body) for kind, (query, name) in FORMATS.items()
        }
        text = client.get(f"{notice}/letter?format=text").body.decode()
    code = next(word for word in text.split() if len(word.strip(".")) == 9 and word[4] == "-")
    return Letter(done["public_address"].removeprefix(site.url), code, done["content"], files)


@pytest.fixture(scope="module")
def letter(site) -> Letter:
    return approved(site, "letter-1")


@pytest.fixture(scope="module")
def other(site) -> Letter:
    return approved(site, "letter-2", "de")


@pytest.fixture
def opened(site, open_page, letter) -> Callable[..., Page]:
    """The page of `letter`; options are those of Playwright's contexts."""
    return lambda **options: open_page(site, letter.path, **options)


def choose(page: Page, file: File) -> Locator:
    """Choose a file. Returns the heading of what is said about it."""
    page.get_by_label("Choose the file").set_input_files(
        {"name": file.name, "mimeType": "application/octet-stream", "buffer": file.content}
    )
    heading = page.locator(".verdict h3")
    expect(heading).to_be_focused()
    return heading


def altered(file: File, old: bytes, new: bytes) -> File:
    assert old in file.content
    return File(file.name, file.content.replace(old, new))


# ── what is found in a file ──


def test_an_html_file_as_it_is_given_out_is_the_genuine_letter(opened, letter, site, open_page, other):
    page = opened()
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(page.locator(".checks .good")).to_have_count(5)
    german = open_page(site, other.path)
    german.locator("#file").set_input_files(
        {"name": "brief.html", "mimeType": "", "buffer": other.files["html"].content}
    )
    expect(german.locator(".verdict h3")).to_have_text("Das ist die Datei des echten Briefs")


@pytest.mark.parametrize("kind", ["a4", "US letter", "proof"])
def test_any_other_file_carries_its_proof_and_the_reader_is_told_to_compare(opened, letter, kind):
    page = opened()
    expect(choose(page, letter.files[kind])).to_have_text(PROVED)
    expect(page.locator(".verdict")).to_contain_text("The file can show other words when you open it")
    expect(page.locator(".checks .good")).to_have_count(4)
    expect(page.locator(".checks .bad")).to_have_count(0)
    expect(page.locator(".checks")).to_contain_text(SHOWN_UNKNOWN)


def test_the_genuine_letters_sentences_are_shown_with_source_and_value(opened, letter):
    page = opened()
    choose(page, letter.files["a4"])
    said = [item for name in ("decision_summary", "main_factors", "role_of_automated_system", "inputs_used")
            for item in letter.content[name]]  # fmt: skip
    shown = page.locator(".statement")
    assert [text.strip() for text in shown.locator("[data-slot=statement]").all_inner_texts()] == [
        item["statement"] for item in said
    ]
    assert shown.locator("[data-slot=source]").all_inner_texts() == [item["source"] for item in said]
    expect(shown.locator(".mark")).to_have_text(["Proved"] * len(said))
    values = dict(
        zip([item["source"] for item in said], shown.locator("[data-slot=value]").all_inner_texts(), strict=True)
    )
    assert values["outcome.reasons.0"] == RECORD["outcome"]["reasons"][0]
    assert values["outcome.action"] == "denied"
    expect(page.get_by_text("You may complain.")).to_be_visible()
    expect(page.locator("time")).not_to_be_empty()


def test_a_letter_of_somebody_else_is_not_this_one(opened, other):
    page = opened()
    expect(choose(page, other.files["a4"])).to_have_text(FORGED)
    expect(page.locator(".checks .bad")).to_have_text(
        ["Failed: The proof in the file is not the one that was approved."]
    )
    expect(page.locator(".statement")).to_have_count(0)
    expect(page.get_by_text("You may complain.")).to_have_count(0)


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        (b"You may complain.", b"Pay 100 EUR here.", ["the one that was approved"]),
        (b'"scalar":"\\"denied\\""', b'"scalar":"\\"approved\\""', ["approved", "signed record", "is proved"]),
        (b'"sig":"', b'"sig":"AAAA', ["approved", "no valid signature"]),
    ],
)
def test_a_changed_file_is_told_apart_and_every_failed_check_named(opened, letter, old, new, failed):
    page = opened()
    expect(choose(page, altered(letter.files["proof"], old, new))).to_have_text(FORGED)
    told = page.locator(".checks .bad").all_inner_texts()
    assert len(told) == len(failed)
    assert all(part in line for part, line in zip(failed, told, strict=True))


# What a forger may do to the page that a reader opens, whose proof stays whole.
OTHER_SENTENCES = {
    "another word": (b"was denied", b"was granted"),
    "another title": (b"</h1>", b": granted</h1>"),
    "a sentence more": (b'<section class="main_factors">', b'<section class="main_factors"><div>Granted.</div>'),
    "a sentence less": (b'<p dir="ltr">Write to us.</p>', b""),
    "a section more": (b'<section class="sources">', b'<section class="addition"><p>Granted.</p></section>\\g<0>'),
    "a number turned around": (b"0[.]92[.]", b"\xe2\x80\xae29.0."),
}
SAME_SENTENCES_LOOKING_OTHERWISE = {
    "a style": (b"</style>", b'li { font-size: 0 } li::before { content: "Granted."; font-size: 1rem }</style>'),
    "a second style": (b"</head>", b"<style>main { display: none }</style></head>"),
    "an attribute": (b'<section class="decision_summary">', b'<section class="decision_summary" hidden>'),
    "words over the page": (b"<main>", b'<div class="watermark" data-mark="Granted"></div><main>'),
    "words in the place of a heading": (b"What was decided</h2>", b"Granted</h2>"),
    "words in the place of a source": (b">1</a></sup>", b">not true</a></sup>"),
    "words among the sources": (b'<section class="sources">', b'<section class="sources"><p>Granted.</p>'),
    "words in the box at the end": (b'<strong class="code">', b"Granted. \\g<0>"),
    "a script": (b"</body>", b"<script>document.querySelector('h1').textContent = 'Granted'</script></body>"),
    "another encoding": (b'<meta charset="utf-8">', b'<meta charset="iso-2022-jp">'),
    "markup in the address": (b"1 Example Street", b"<b>Granted</b>"),
    "a second recipient": (b"</main>", b'<p class="recipient"><span dir="ltr">Granted</span></p></main>'),
    "a second reference": (b"</dl>", b'<div class="reference"><dt>Granted</dt><dd dir="ltr">1</dd></div></dl>'),
    "another word for the reference": (b"<dt>Your reference</dt>", b"<dt>Granted</dt>"),
    "words in the place of the code": (b'(<strong class="code">)[^<]*', b"\\1Granted"),
}


def forged(file: File, old: bytes, new: bytes) -> File:
    content, number = re.subn(old, new, file.content, count=1)
    assert number == 1
    return File(file.name, content)


@pytest.mark.parametrize("forgery", OTHER_SENTENCES)
def test_a_letter_whose_text_says_anything_else_is_not_the_genuine_one(opened, letter, forgery):
    page = opened()
    expect(choose(page, forged(letter.files["html"], *OTHER_SENTENCES[forgery]))).to_have_text(FORGED)
    expect(page.locator(".checks .bad")).to_have_text([SHOWN_FAILED])
    expect(page.get_by_text(letter.content["decision_summary"][0]["statement"])).to_be_visible()


@pytest.mark.parametrize("forgery", SAME_SENTENCES_LOOKING_OTHERWISE)
def test_a_letter_that_may_look_otherwise_is_never_called_genuine(opened, letter, forgery):
    page = opened()
    expect(choose(page, forged(letter.files["html"], *SAME_SENTENCES_LOOKING_OTHERWISE[forgery]))).to_have_text(PROVED)
    expect(page.locator(".checks")).to_contain_text(SHOWN_UNKNOWN)


def test_nothing_in_a_forged_letter_is_loaded_or_run(site, browser, letter):
    page = browser.new_context(base_url=site.url).new_page()
    page.goto(letter.path, wait_until="networkidle")
    sent, ran = [], []
    page.on("request", lambda request: sent.append(request.url))
    page.on("dialog", lambda dialog: ran.append(dialog.message))
    markup = (
        b'<img src="/x" onerror="alert(1)"><script>alert(2)</script><iframe src="/y"></iframe><p style="color: red">'
    )
    expect(choose(page, forged(letter.files["html"], b"<main>", b"<main>" + markup))).to_have_text(PROVED)
    page.wait_for_timeout(500)
    assert (sent, ran) == ([], [])
    page.context.close()


def test_whom_the_letter_is_written_to_is_left_to_the_reader(opened, letter):
    """Nothing of the person is told to whoever has the proof alone, so it is no part of the digest."""
    page = opened()
    file = forged(forged(letter.files["html"], b"Avery Example", b"Blake Example"), letter.code.encode(), b"AAAA-2222")
    expect(choose(page, forged(file, b">A-1<", b">A-2<"))).to_have_text(GENUINE)
    expect(page.locator(".verdict")).to_contain_text("apart from recipient, reference and code: compare those yourself")


def test_text_that_a_letter_prints_otherwise_than_it_was_written_is_no_forgery(site, open_page):
    """Else a letter from before letters looked as they do now would be called one."""
    strange = [" \t Two\u2028lines\u0085and\x07a bell. ", "שלום <b>1 & 2</b>", "\ue000 private\u2060ly \ufffd", "\n\n"]
    letter = approved(site, "letter-strange", rights=strange, how_to_request_review="Write.\r\n\r\nOr call.")
    page = open_page(site, letter.path)
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(choose(page, forged(letter.files["html"], b"</style>", b"/* older */</style>"))).to_have_text(PROVED)


@pytest.mark.parametrize(
    "content",
    [b"", b"Dear Sir or Madam", b"%PDF-1.7\nno attachment", b"<script id=proof>alert(1)</script>", b"\x89PNG\r\n\x1a\n",
     b"<html><script type='application/json' id='proof'>\"%%%\"</script></html>"],
)  # fmt: skip
def test_a_file_without_proof_is_told_so(opened, content):
    page = opened()
    expect(choose(page, File("letter.pdf", content))).to_have_text("This file cannot be checked")
    expect(page.locator(".checks")).to_have_count(0)


def test_the_last_file_chosen_is_the_one_told_of(opened, letter, other):
    page = opened()
    choose(page, other.files["html"])
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(page.locator(".report")).to_have_count(1)


def test_a_file_may_be_dropped_anywhere_on_the_page(opened, letter):
    page = opened()
    text = letter.files["proof"].content.decode()
    dropped = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'x.json')); return d; }", text
    )
    page.locator("h1").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator(".verdict h3")).to_have_text(PROVED)


def test_a_browser_that_does_not_know_the_signature_says_so(opened, letter):
    page = opened()
    page.add_init_script(
        "crypto.subtle.importKey = async () => { throw new DOMException('unknown', 'NotSupportedError'); }"
    )
    page.reload()
    expect(choose(page, letter.files["a4"])).to_have_text(
        "This file carries a proof, but its signature was not checked"
    )
    expect(page.locator(".checks .good")).to_have_count(3)
    expect(page.get_by_text("Not checked: This browser cannot check the signature")).to_be_visible()


def test_a_page_that_is_not_secure_says_so(opened):
    page = opened()
    page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })")
    page.reload()
    expect(page.get_by_text("Open this page with https.")).to_be_visible()
    expect(page.get_by_label("Choose the file")).to_be_hidden()


# ── nothing leaves the page ──


def test_checking_a_file_sends_nothing(opened, letter):
    page = opened()
    page.wait_for_load_state("networkidle")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    for file in letter.files.values():
        choose(page, file)
    page.wait_for_timeout(500)
    assert sent == []
    assert page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0


def test_the_browser_refuses_to_send_what_a_script_would_send(site, browser, letter):
    page = browser.new_context(base_url=site.url).new_page()
    page.goto(letter.path, wait_until="networkidle")
    answered = []
    page.on("response", lambda response: answered.append(response.url))
    page.evaluate("""() => Promise.allSettled([
        fetch("/healthz"), fetch("/healthz", { method: "POST", body: "x" }), navigator.sendBeacon("/healthz", "x"),
        new Promise((done) => Object.assign(new Image(), { src: "https://example.org/x", onerror: done })),
    ])""")
    page.wait_for_timeout(500)
    assert answered == []
    page.context.close()


# ── the request for a review ──


def test_a_person_asks_for_a_review_with_the_keyboard_after_a_mistake(opened, letter):
    page = opened()
    page.get_by_label("Code from your letter").focus()
    for typed in ("AAAA-AAAA", "Please look at my payslip.", ""):
        page.keyboard.type(typed)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This is not the code of this letter.")
    code = page.get_by_label("Code from your letter")
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Your message")).to_have_value("Please look at my payslip.")
    code.fill(letter.code.lower())
    code.press("Enter")
    expect(page.get_by_role("heading", name="Your request has come in")).to_be_visible()
    expect(page.get_by_text("R-")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Back to the page of the letter").click()
    expect(page.get_by_role("heading", name="Is this letter genuine?")).to_be_visible()


def test_without_javascript_the_page_confirms_the_letter_and_takes_a_request(site, open_page, other):
    page = open_page(site, other.path, java_script_enabled=False)
    expect(page.get_by_role("heading", name="Gültig")).to_be_visible()
    expect(page.get_by_text("notice-proof.json")).to_be_visible()
    expect(page.locator("#chooser")).to_be_hidden()
    page.get_by_label("Code aus Ihrem Brief").fill(other.code)
    page.get_by_role("button", name="Überprüfung verlangen").click()
    expect(page.get_by_role("heading", name="Ihre Bitte ist angekommen")).to_be_visible()


# ── looks ──


@pytest.fixture(params=["page", "genuine", "proved", "forged", "unknown"])
def sight(request, site, open_page, letter) -> Callable[..., Page]:
    """What there is to see, one after the other."""

    def show(**options) -> Page:
        page = open_page(site, "/n/aaaaaaaaaaaa" if request.param == "unknown" else letter.path, **options)
        files = {
            "genuine": letter.files["html"],
            "proved": letter.files["a4"],
            "forged": forged(letter.files["html"], *OTHER_SENTENCES["another word"]),
        }
        if request.param in files:
            choose(page, files[request.param])
        return page

    return show


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(sight, scheme):
    assert violations(sight(color_scheme=scheme)) == []


@pytest.mark.parametrize("options", [TELEPHONE, {"viewport": {"width": 3840, "height": 2160}}])
def test_nothing_is_wider_than_the_screen(sight, options):
    page = sight(**options)
    assert page.evaluate("document.documentElement.scrollWidth") == options["viewport"]["width"]


def test_with_letters_twice_as_large_nothing_is_cut_off(sight):
    page = sight(viewport={"width": 640, "height": 480})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_on_paper_there_is_what_was_found_and_no_form(opened, letter):
    page = opened()
    choose(page, letter.files["html"])
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name=GENUINE)).to_be_visible()
    expect(page.locator("form")).to_be_hidden()
    expect(page.locator("#chooser")).to_be_hidden()


@pytest.mark.parametrize(
    "lie", ["Your loan is approved. " * 10, '</span><span dir="ltr">'.join(["Pay 500 EUR now."] * 9)]
)
def test_what_is_longer_than_an_address_is_not_taken_for_one(opened, letter, lie):
    forged = altered(letter.files["html"], b"Avery Example", lie.encode())
    expect(choose(opened(), forged)).to_have_text(PROVED)
