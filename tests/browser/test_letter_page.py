"""The public page of a letter in a browser: it checks the service's files and is accessible."""

from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.browser.axe import violations, violations_in_light_and_dark
from tests.browser.letters import (
    GENUINE,
    OTHER_SENTENCES,
    PROVED,
    RECORD,
    SHOWN_UNKNOWN,
    File,
    Letter,
    choose,
    forged,
    verdict_on,
)

TELEPHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SIGHTS = ["page", "genuine", "proved", "forged", "unknown"]


# ── verdicts ──


def test_the_services_html_file_is_genuine(opened, letter, site, open_page, other):
    page = opened()
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(page.locator(".checks .good")).to_have_count(5)
    german = open_page(site, other.path)
    german.locator("#file").set_input_files(
        {"name": "brief.html", "mimeType": "", "buffer": other.files["html"].content}
    )
    expect(german.locator(".verdict h3")).to_have_text("Das ist die Datei des echten Briefs")


def test_a_file_of_another_format_has_a_proof_and_the_reader_has_to_compare(opened, letter):
    page = opened()
    for kind in ("a4", "US letter", "proof"):
        assert verdict_on(page, letter.files[kind]) == PROVED, kind
        expect(page.locator(".verdict")).to_contain_text("The file can show other words when you open it")
        expect(page.locator(".checks .good")).to_have_count(4)
        expect(page.locator(".checks .bad")).to_have_count(0)
        expect(page.locator(".checks")).to_contain_text(SHOWN_UNKNOWN)


def test_the_sentences_of_a_genuine_letter_are_shown_with_source_and_value(opened, letter):
    page = opened()
    choose(page, letter.files["a4"])
    items = [item for name in ("decision_summary", "main_factors", "role_of_automated_system", "inputs_used")
             for item in letter.content[name]]  # fmt: skip
    shown = page.locator(".statement")
    assert [text.strip() for text in shown.locator("[data-slot=statement]").all_inner_texts()] == [
        item["statement"] for item in items
    ]
    assert shown.locator("[data-slot=source]").all_inner_texts() == [item["source"] for item in items]
    expect(shown.locator(".mark")).to_have_text(["Value proved"] * len(items))
    values = dict(
        zip([item["source"] for item in items], shown.locator("[data-slot=value]").all_inner_texts(), strict=True)
    )
    assert values["outcome.reasons.0"] == RECORD["outcome"]["reasons"][0]
    assert values["outcome.action"] == "denied"
    apart = "row => !row.querySelector('.said').contains(row.querySelector('.mark'))"
    assert shown.evaluate_all(f"all => all.every({apart})"), "the mark belongs to the value, not to the sentence"
    expect(page.get_by_text("You may complain.")).to_be_visible()
    expect(page.locator("time")).not_to_be_empty()


def test_a_file_without_a_proof_cannot_be_checked(opened):
    page = opened()
    for content in (
        b"", b"Dear Sir or Madam", b"%PDF-1.7\nno attachment", b"<script id=proof>alert(1)</script>",
        b"\x89PNG\r\n\x1a\n", b"<html><script type='application/json' id='proof'>\"%%%\"</script></html>",
    ):  # fmt: skip
        assert verdict_on(page, File("letter.pdf", content)) == "This file cannot be checked", content
        expect(page.locator(".checks")).to_have_count(0)


def test_the_verdict_is_on_the_last_file_chosen(opened, letter, other):
    page = opened()
    choose(page, other.files["html"])
    expect(choose(page, letter.files["html"])).to_have_text(GENUINE)
    expect(page.locator(".report")).to_have_count(1)


def test_a_file_can_be_dropped_anywhere_on_the_page(opened, letter):
    page = opened()
    text = letter.files["proof"].content.decode()
    dropped = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'x.json')); return d; }", text
    )
    page.locator("h1").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator(".verdict h3")).to_have_text(PROVED)


def opened_with(script: str, opened, letter) -> Page:
    """Open the page in a browser with an init script. No other test uses this page."""
    page = opened().context.new_page()
    page.add_init_script(script)
    page.goto(letter.path)
    return page


def test_a_browser_without_the_signature_algorithm_says_so(opened, letter):
    unknown = "crypto.subtle.importKey = async () => { throw new DOMException('unknown', 'NotSupportedError'); }"
    page = opened_with(unknown, opened, letter)
    expect(choose(page, letter.files["a4"])).to_have_text(
        "This file carries a proof, but its signature was not checked"
    )
    expect(page.locator(".checks .good")).to_have_count(3)
    expect(page.get_by_text("Not checked: This browser cannot check the signature")).to_be_visible()


def test_a_page_that_is_not_secure_says_so(opened, letter):
    insecure = "Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })"
    page = opened_with(insecure, opened, letter)
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


def test_the_browser_refuses_every_request_of_a_script(site, browser, letter):
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


def test_a_review_can_be_requested_with_the_keyboard_after_a_mistake(opened, letter):
    page = opened()
    page.get_by_label("Code from your letter").focus()
    for typed in ("AAAA-AAAA", "Please look at my payslip.", ""):
        page.keyboard.type(typed)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("That code does not match this letter.")
    code = page.get_by_label("Code from your letter")
    expect(code).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Your message")).to_have_value("Please look at my payslip.")
    code.fill(letter.code.lower())
    code.press("Enter")
    expect(page.get_by_role("heading", name="We've received your request")).to_be_visible()
    expect(page.get_by_text("R-")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Back to the page of the letter").click()
    expect(page.get_by_role("heading", name="Is this letter genuine?")).to_be_visible()


def test_without_javascript_the_page_confirms_the_letter_and_accepts_a_request(site, open_page, other):
    page = open_page(site, other.path, java_script_enabled=False)
    expect(page.get_by_role("heading", name="Gültig")).to_be_visible()
    expect(page.get_by_text("notice-proof.json")).to_be_visible()
    expect(page.locator("#chooser")).to_be_hidden()
    page.get_by_label("Code aus Ihrem Brief").fill(other.code)
    page.get_by_role("button", name="Überprüfung verlangen").click()
    expect(page.get_by_role("heading", name="Ihre Bitte ist angekommen")).to_be_visible()


# ── looks ──


def sights(page: Page, letter: Letter) -> Iterator[str]:
    """Show each state of the page, and yield its name."""
    yield "page"
    files = {
        "genuine": letter.files["html"],
        "proved": letter.files["a4"],
        "forged": forged(letter.files["html"], *OTHER_SENTENCES["another word"]),
    }
    for name, file in files.items():
        verdict_on(page, file)
        yield name
    page.goto("/n/aaaaaaaaaaaa")
    yield "unknown"


def test_the_page_is_accessible_and_fits_large_screens_and_large_text(opened, letter):
    page, results = opened(), {}
    for sight in sights(page, letter):
        faults = violations_in_light_and_dark(page)
        page.set_viewport_size({"width": 3840, "height": 2160})
        width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 640, "height": 480})
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        results[sight] = (faults, width, page.evaluate("document.documentElement.scrollWidth") <= 640)
        page.set_viewport_size({"width": 1280, "height": 720})
    assert results == dict.fromkeys(SIGHTS, ([], 3840, True))


def test_no_state_is_wider_than_a_phone(opened, letter):
    page = opened(**TELEPHONE)
    widths = {sight: page.evaluate("document.documentElement.scrollWidth") for sight in sights(page, letter)}
    assert widths == dict.fromkeys(SIGHTS, 360)


def test_a_printed_page_has_the_verdict_and_no_form(opened, letter):
    page = opened()
    choose(page, letter.files["html"])
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name=GENUINE)).to_be_visible()
    expect(page.locator("form")).to_be_hidden()
    expect(page.locator("#chooser")).to_be_hidden()
