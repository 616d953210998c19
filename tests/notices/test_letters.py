"""Letters as HTML and plain text: their contents and words, and input that cannot get in."""

import base64
import json
import re
import unicodedata
from datetime import date
from xml.etree.ElementTree import Element

import pytest
import segno
import tinyhtml5

from notices import letters
from notices.letters import Letter
from notices.letters.labels import languages
from tests.browser.axe import violations
from tests.cases import each_case

CONTENT = {
    "title": "A decision about your loan",
    "decision_summary": [
        {"statement": "Your application was denied.", "source": "outcome.action"},
        {"statement": "It was made on 2 November 2026.", "source": "decided_at"},
    ],
    "main_factors": [
        {"statement": "The loan is larger than 90 % of the value.", "source": "outcome.reasons.0"},
        {"statement": "The loan-to-value ratio was 0.92.", "source": "events.application.loan_to_value"},
    ],
    "role_of_automated_system": [{"statement": "A system decided alone.", "source": "outcome.solely_automated"}],
    "inputs_used": [
        {"statement": "The loan-to-value ratio used was 0.92.", "source": "events.application.loan_to_value"}
    ],
    "how_to_request_inputs": "Write to us for a copy of the data.",
    "rights": ["You have the right to see your data.", "You have the right to complain."],
    "human_review_available": True,
    "how_to_request_review": "Write to us.\nTell us what is wrong.",
    "deadline_note": "We answer within one month.",
    "framework": "General Data Protection Regulation (GDPR), Article 22",
    "language": "en",
}
STATEMENTS = ("decision_summary", "main_factors", "role_of_automated_system", "inputs_used")
HEADINGS = (*STATEMENTS, "rights", "review", "deadline_note", "sources", "check")
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script></style><img src=x onerror=alert(1)>{{ x }}{% x %} & https://evil.example/ javascript:alert(1)"


def letter(content: dict | None = None, **changes) -> Letter:
    """Return a complete letter. `content` replaces fields, and None removes one."""
    fields = {
        "organization": "Example Bank",
        "sender": "1 Harbour Street\nSpringfield",
        "recipient": {"name": "Avery Example", "address": ["22 Elm Road", "Springfield"], "reference": "A-118"},
        "content": {name: value for name, value in (CONTENT | (content or {})).items() if value is not None},
        "dated": date(2026, 11, 20),
        "mark": "",
        "address": "https://letters.example/l/7QK2M9XT",
        "review_code": "4F7K-92QD",
        "proof": b'{"proofs": ["</script>", "<!--", "\xc3\xa9"]}\n',
        "notice_id": "5f0c1d5e-0f8a-4c8e-9b63-2f3e6b1c7d11",
        "locale": "",
    }
    return Letter(**{**fields, **changes})


def page(read: Letter) -> Element:
    """Return the letter as a browser's parser sees it."""
    return tinyhtml5.parse(letters.render_html(read), namespace_html_elements=False)


def element_text(element: Element | None) -> str:
    """Return the text of an element without characters that only join or wrap it."""
    assert element is not None
    return re.sub("[ \n]+", " ", "".join(element.itertext()).replace("\N{WORD JOINER}", "")).strip(" ")


def headings(read: Letter) -> list[str]:
    return [element_text(heading) for heading in page(read).iter("h2")]


# ── words ──


def test_every_language_has_all_the_words():
    assert set(languages()) == {"en", "de", "fr"}
    assert len({frozenset(words) for words in languages().values()}) == 1
    assert all(text.strip() for words in languages().values() for text in words.values())


@each_case(
    ("asked", "printed", "words"),
    [
        ("en", "en", "en"), ("de", "de", "de"), ("fr-CA", "fr-CA", "fr"), ("DE-at", "DE-at", "de"),
        ("xx", "en", "en"), ("", "en", "en"), ("../en", "en", "en"), ('de-"><b>', "en", "en"), (7, "en", "en"),
    ],
)  # fmt: skip
def test_the_language_of_the_content_is_the_language_of_the_letter(asked, printed, words):
    read = letter({"language": asked})
    assert page(read).get("lang") == printed
    assert headings(read) == [languages()[words][name] for name in HEADINGS]
    for name in HEADINGS:
        assert languages()[words][name] in letters.render_text(read)


@pytest.mark.parametrize(
    ("language", "locale", "day"),
    [
        ("en", "", "November 20, 2026"),
        ("en", "en_GB", "20 November 2026"),
        ("de", "", "20. November 2026"),
        ("fr", "fr_CA", "20 novembre 2026"),
    ],
)
def test_the_date_is_written_as_people_of_the_language_and_region_write_it(language, locale, day):
    read = letter({"language": language}, locale=locale)
    assert day in element_text(page(read).find(".//dl"))
    assert day in letters.render_text(read)


def test_the_first_of_a_month_is_an_ordinal_in_french():
    assert "1er décembre 2026" in letters.render_text(letter({"language": "fr"}, dated=date(2026, 12, 1)))


# ── structure ──


def test_a_letter_has_landmarks_and_one_title():
    document = page(letter())
    assert [element_text(title) for title in document.iter("h1")] == [CONTENT["title"]]
    assert element_text(document.find("head/title")) == CONTENT["title"]
    assert document.find("body/header") is not None
    assert document.find("body/main/h1") is not None


def test_every_statement_leads_to_the_field_it_comes_from():
    document = page(letter())
    paths = {
        item.get("id"): element_text(item.find("code"))
        for item in document.iterfind(".//section[@class='sources']//li")
    }
    cited = {
        (
            name,
            element_text(item).removesuffix(element_text(item.find("sup"))),
            paths[item.find("sup/a").get("href").removeprefix("#")],
        )
        for name in STATEMENTS
        for item in document.iterfind(f".//section[@class='{name}']/ul/li")
    }
    assert cited == {(name, item["statement"], item["source"]) for name in STATEMENTS for item in CONTENT[name]}


def test_a_field_that_is_cited_twice_has_one_number():
    lines = letters.render_text(letter()).splitlines()
    assert "- The loan-to-value ratio was 0.92. [4]" in lines
    assert "- The loan-to-value ratio used was 0.92. [4]" in lines
    assert lines.count("[4] events.application.loan_to_value") == 1


def test_a_statement_without_a_source_has_no_number():
    read = letter({"decision_summary": [{"statement": "So it is.", "source": ""}]})
    assert "So it is.\n" in letters.render_text(read)
    assert page(read).find(".//section[@class='decision_summary']//a") is None


@each_case("name", [*STATEMENTS, "rights", "how_to_request_review", "deadline_note"])
def test_a_section_without_content_is_left_out(name):
    empty: object = [] if isinstance(CONTENT[name], list) else " \n"
    without = letter({name: empty, "how_to_request_inputs": ""})
    heading = languages()["en"]["review" if name == "how_to_request_review" else name]
    assert heading not in headings(without)
    assert heading not in letters.render_text(without).splitlines()
    assert len(headings(without)) == len(HEADINGS) - 1


def test_an_empty_content_still_is_a_letter():
    bare = letter(dict.fromkeys(CONTENT), recipient={}, sender="", address="", proof=b"")
    assert headings(bare) == []
    assert element_text(page(bare).find(".//h1")) == "A decision about you"
    assert "A decision about you\n====" in letters.render_text(bare)


def test_without_a_review_the_heading_promises_none():
    read = letter({"human_review_available": False, "how_to_request_review": "We offer none."})
    assert languages()["en"]["review"] not in headings(read)
    assert languages()["en"]["no_review"] in headings(read)


def test_content_of_the_wrong_type_is_not_printed():
    wrong = dict.fromkeys(CONTENT, 7) | {"rights": [None, {}, "Kept."], "main_factors": ["x", {"statement": 1}]}
    assert headings(letter(wrong)) == ["Your rights", "Is this letter genuine?"]


# ── recipient ──


@pytest.mark.parametrize("address", ["22 Elm Road\r\n\nSpringfield", ["22 Elm Road", "Springfield"]])
def test_an_address_is_text_or_a_list_of_lines(address):
    read = letter(recipient={"name": "Avery Example", "address": address})
    lines = [element_text(line) for line in page(read).iterfind(".//p[@class='recipient']/span")]
    assert lines == ["Avery Example", "22 Elm Road", "Springfield"]
    assert "Avery Example\n22 Elm Road\nSpringfield\n\n" in letters.render_text(read)


@each_case("wrong", [None, 7, True, [], [[["x"]], None, {}], {"name": "x"}, [7, "22 Elm Road"]])
def test_a_recipient_of_any_shape_does_no_harm(wrong):
    read = letter(recipient={"name": wrong, "address": wrong, "reference": wrong, "other": {"deep": [wrong]}})
    printed = [element_text(line) for line in page(read).iterfind(".//p[@class='recipient']/span")]
    assert printed in ([], ["22 Elm Road"])
    assert "Your reference" not in letters.render_text(read)


# ── input that cannot get in ──


def test_markup_is_text():
    fields = {name: [{"statement": HOSTILE, "source": HOSTILE}] for name in STATEMENTS}
    fields |= dict.fromkeys(("title", "how_to_request_inputs", "deadline_note", "framework"), HOSTILE)
    hostile = {"name": HOSTILE, "address": [HOSTILE], "reference": HOSTILE}
    read = letter(fields | {"rights": [HOSTILE]}, organization=HOSTILE, sender=HOSTILE, recipient=hostile)
    document, harmless = page(read), page(letter())
    assert {element.tag for element in document.iter()} == {element.tag for element in harmless.iter()}
    assert len(list(document.iter("script"))) == 1
    assert {link.get("href") for link in document.iter("a")} == {"#source-1", read.address}
    assert "".join(document.itertext()).count(HOSTILE) == 16
    assert HOSTILE in letters.render_text(read)


def test_unreadable_characters_are_replaced():
    unreadable = "a\x00\x1b\x85\ud800\ue000\ufffe\U000f0000z"
    read = letter({"title": unreadable, "rights": [unreadable]})
    for printed in (letters.render_html(read), letters.render_text(read)):
        assert not [c for c in printed if unicodedata.category(c) in ("Cs", "Co") or (c < " " and c != "\n")]
        assert "a\ufffd\ufffd" in printed
        printed.encode()


@pytest.mark.parametrize("proof", [b'{"a": "</script><!--<script>"}', bytes(range(256)), b"{}\n"])
def test_the_proof_comes_back_byte_by_byte(proof):
    element = page(letter(proof=proof)).find(".//script")
    assert element.get("type") == "application/json"
    assert base64.b64decode(json.loads(element.text)) == proof


# ── direction ──


@pytest.mark.parametrize(
    ("statement", "direction"),
    [("القرار هو 12.", "rtl"), ("12: ההחלטה.", "rtl"), ("Решение.", "ltr"), ("12.", "ltr"), ("Loan (قرض).", "ltr")],
)
def test_a_statement_runs_as_its_script_does(statement, direction):
    read = letter({"decision_summary": [{"statement": statement, "source": "decided_at"}], "rights": [statement]})
    items = [item for item in page(read).iter("li") if statement in element_text(item)]
    assert [item.get("dir") for item in items] == [direction] * 2
    assert f"{statement}\N{NO-BREAK SPACE}[1]" in letters.render_text(read)


# ── drafts, withdrawn letters, and how a letter is checked ──


@each_case("language", ["en", "de", "fr"])
@each_case("mark", ["draft", "withdrawn"])
def test_a_mark_is_visible_accessible_and_in_the_first_line(language, mark):
    words = languages()[language]
    read = letter({"language": language}, mark=mark)
    mark_text = f"{words[mark]}. {words[f'{mark}_note']}"
    document = page(read)
    assert element_text(document.find("body/header/p[@class='mark']")) == mark_text
    drawn = document.find("body/div[@class='watermark']")
    assert (drawn.get("data-mark"), drawn.get("aria-hidden")) == (words[mark], "true")
    assert letters.render_text(read).splitlines()[0].startswith(words[mark].upper() + ". ")


def test_an_approved_letter_has_no_mark():
    assert page(letter()).find(".//*[@class='mark']") is None
    assert page(letter()).find(".//*[@class='watermark']") is None


def test_a_letter_says_where_it_is_checked():
    box = page(letter()).find(".//section[@class='check']")
    assert box.find(".//a").get("href") == letter().address
    drawing = box.find(f"{SVG}svg")
    assert element_text(drawing.find(f"{SVG}title")) == f"QR code that leads to {letter().address}"
    expected = tinyhtml5.parse(segno.make(letter().address, error="m").svg_inline(border=4))
    assert drawing.find(f"{SVG}path").get("d") == expected.find(f".//{SVG}path").get("d")
    assert "4F7K-92QD" in element_text(box)
    assert letters.render_text(letter()).endswith("this code:\n4F7K-92QD\n")


def test_without_an_address_there_is_no_box_and_without_a_code_no_offer():
    assert page(letter(address="")).find(".//section[@class='check']") is None
    assert letter().address not in letters.render_text(letter(address=""))
    offer = languages()["en"]["code"]
    without = letter(review_code="")
    assert offer not in element_text(page(without))
    assert offer not in " ".join(letters.render_text(without).split())


# ── plain text ──


def test_lines_of_the_text_are_short_and_words_stay_whole():
    path = "events.application." + "very_long." * 12 + "field"
    read = letter({"decision_summary": [{"statement": "word " * 60, "source": path}]})
    lines = letters.render_text(read).splitlines()
    assert f"[1] {path}" in lines
    assert max(len(line) for line in lines if path not in line) <= 78


# ── length and looks ──


@pytest.mark.slow
def test_a_letter_of_thousands_of_statements_is_rendered():
    many = [{"statement": f"Fact {n}.", "source": f"events.facts.{n}"} for n in range(1_000)]
    read = letter({"main_factors": many})
    assert len(page(read).findall(".//section[@class='main_factors']/ul/li")) == 1_000
    assert "[1002] events.facts.999\n" in letters.render_text(read)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 320], ids=["desktop", "zoomed to 400 %"])
@pytest.mark.parametrize("mark", ["", "draft"])
def test_a_browser_shows_it_under_a_strict_policy_and_axe_finds_nothing(browser, width, mark):
    complaints: list[str] = []
    policy = f"default-src 'none'; style-src {letters.style_hash()}"
    context = browser.new_context(viewport={"width": width, "height": 800})
    shown = context.new_page()
    shown.on("console", lambda message: complaints.append(message.text))
    answer = {"body": letters.render_html(letter(mark=mark)), "content_type": "text/html; charset=utf-8"}
    shown.route("**/letter", lambda route: route.fulfill(**answer, headers={"Content-Security-Policy": policy}))
    shown.goto("https://letters.example/letter")
    assert shown.evaluate("getComputedStyle(document.querySelector('h2')).color") == "rgb(23, 84, 107)"
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert complaints == []
    # axe is injected through the debugger, which a content security policy cannot forbid.
    assert violations(shown) == []
    context.close()
