"""Forgeries of a letter's file, and the verdicts of the public page."""

from playwright.sync_api import expect

from tests.browser.letters import (
    FORGED,
    GENUINE,
    OTHER_SENTENCES,
    PROVED,
    SHOWN_FAILED,
    SHOWN_UNKNOWN,
    altered,
    approved,
    choose,
    forged,
    verdict_on,
)


def test_the_file_of_another_letter_is_not_genuine(opened, other):
    page = opened()
    expect(choose(page, other.files["a4"])).to_have_text(FORGED)
    expect(page.locator(".checks .bad")).to_have_text(
        ["Failed: The proof in the file is not the one that was approved."]
    )
    expect(page.locator(".statement")).to_have_count(0)
    expect(page.get_by_text("You may complain.")).to_have_count(0)


def test_a_changed_file_is_not_genuine_and_every_failed_check_is_named(opened, letter):
    page = opened()
    for old, new, failed in (
        (b"You may complain.", b"Pay 100 EUR here.", ["the one that was approved"]),
        (b'"scalar":"\\"denied\\""', b'"scalar":"\\"approved\\""', ["approved", "signed record", "is proved"]),
        (b'"sig":"', b'"sig":"AAAA', ["approved", "no valid signature"]),
    ):
        assert verdict_on(page, altered(letter.files["proof"], old, new)) == FORGED
        lines = page.locator(".checks .bad").all_inner_texts()
        assert len(lines) == len(failed), lines
        assert all(part in line for part, line in zip(failed, lines, strict=True)), lines


SAME_SENTENCES_LOOKING_DIFFERENT = {
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


def test_a_letter_with_other_sentences_is_not_genuine(opened, letter):
    page, summary = opened(), letter.content["decision_summary"][0]["statement"]
    results = {}
    for name, forgery in OTHER_SENTENCES.items():
        verdict = verdict_on(page, forged(letter.files["html"], *forgery))
        shown = page.get_by_text(summary).is_visible()
        results[name] = (verdict, page.locator(".checks .bad").all_inner_texts(), shown)
    assert results == dict.fromkeys(OTHER_SENTENCES, (FORGED, [SHOWN_FAILED], True))


def test_a_letter_that_may_look_different_is_not_called_genuine(opened, letter):
    page = opened()
    results = {}
    for name, forgery in SAME_SENTENCES_LOOKING_DIFFERENT.items():
        verdict = verdict_on(page, forged(letter.files["html"], *forgery))
        results[name] = (verdict, SHOWN_UNKNOWN in page.locator(".checks").inner_text())
    assert results == dict.fromkeys(SAME_SENTENCES_LOOKING_DIFFERENT, (PROVED, True))


def test_a_forged_letter_loads_and_runs_nothing(site, browser, letter):
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


def test_the_reader_has_to_compare_the_recipient(opened, letter):
    """The proof alone must not reveal the person, so the digest does not cover the recipient."""
    page = opened()
    file = forged(forged(letter.files["html"], b"Avery Example", b"Blake Example"), letter.code.encode(), b"AAAA-2222")
    expect(choose(page, forged(file, b">A-1<", b">A-2<"))).to_have_text(GENUINE)
    expect(page.locator(".verdict")).to_contain_text("apart from recipient, reference and code: compare those yourself")


def test_text_that_a_letter_normalizes_is_no_forgery(site, open_page):
    """Otherwise an older letter with another layout would be called a forgery."""
    strange = [" \t Two\u2028lines\u0085and\x07a bell. ", "שלום <b>1 & 2</b>", "\ue000 private\u2060ly \ufffd", "\n\n"]
    letter = approved(site, "letter-strange", rights=strange, how_to_request_review="Write.\r\n\r\nOr call.")
    page = open_page(site, letter.path)
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(choose(page, forged(letter.files["html"], b"</style>", b"/* older */</style>"))).to_have_text(PROVED)


def verdicts(page, letter, replaced: str, by: list[str]) -> dict[str, str]:
    """Return the verdicts on the letter with one of its texts replaced by each of these."""
    files = {text: altered(letter.files["html"], replaced.encode(), text.encode()) for text in by}
    return {text: verdict_on(page, file) for text, file in files.items()}


NAME, GREETING = "Avery Example", "Avery Example</bdi>"
LINES_OF_80 = ["y" * 80, "&amp;" * 80, "&lt;&gt;&quot;&#x27;" * 20, "\N{MUSICAL SYMBOL G CLEF}" * 80, "é" * 80]
"""Lines of 80 characters. Their spelling in markup may be longer."""


def test_a_text_longer_than_an_address_is_not_accepted_as_one(opened, letter):
    lies = ["Your loan is approved. " * 10, '</span><span dir="ltr">'.join(["Pay 500 EUR now."] * 9)]
    assert verdicts(opened(), letter, NAME, lies) == dict.fromkeys(lies, PROVED)


def test_the_reader_has_to_compare_the_longest_address(opened, letter):
    page, results = opened(), {}
    for line in LINES_OF_80:
        # It replaces the name, above the only line of the address.
        address = '</span><span dir="ltr">'.join([line] * 7)
        greeted = altered(letter.files["html"], GREETING.encode(), f"{line}</bdi>".encode())
        results[line] = verdict_on(page, altered(greeted, NAME.encode(), address.encode()))
    assert results == dict.fromkeys(LINES_OF_80, GENUINE)


def test_a_greeting_longer_than_a_name_is_not_genuine(opened, letter):
    greetings = [f"{line}</bdi>" for line in ("y" * 81, "Avery</bdi>, your loan is granted")]
    assert verdicts(opened(), letter, GREETING, greetings) == dict.fromkeys(greetings, PROVED)


def test_an_address_with_one_character_too_many_is_not_genuine(opened, letter):
    signs = ("y", "&amp;", "\N{MUSICAL SYMBOL G CLEF}")
    lines = [*(sign * 81 for sign in signs), f"{'y' * 80}</span><span dir=ltr>Granted"]
    assert verdicts(opened(), letter, NAME, lines) == dict.fromkeys(lines, PROVED)


def test_unusual_character_references_are_not_accepted_in_an_address(opened, letter):
    lines = ["&Granted;", "&nbsp;Granted", "&#71;ranted", "A & B"]
    assert verdicts(opened(), letter, NAME, lines) == dict.fromkeys(lines, PROVED)
