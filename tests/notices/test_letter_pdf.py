"""Letters as PDF: made by WeasyPrint and read by an independent library."""

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from notices import letters
from notices.letters import Letter
from notices.letters.labels import languages
from tests.notices.test_letters import CONTENT, HEADINGS, HOSTILE, letter

pytestmark = pytest.mark.slow

POINTS = {"a4": (210 / 25.4 * 72, 297 / 25.4 * 72), "letter": (8.5 * 72, 11 * 72)}
MANY = {"main_factors": [{"statement": f"Fact {n} counted.", "source": f"events.facts.{n}"} for n in range(60)]}


def read(made: Letter, paper: letters.Paper = "a4") -> PdfReader:
    return PdfReader(BytesIO(letters.render_pdf(made, paper)))


def pdf_text(file: PdfReader) -> str:
    """Return all text with single spaces."""
    return " ".join(" ".join(page.extract_text() for page in file.pages).split()).replace("\N{WORD JOINER}", "")


def elements(node) -> list:
    """Return the structure elements below a node in reading order."""
    kids = node.get("/K", [])
    tags = []
    for kid in kids if isinstance(kids, list) else [kids]:
        kid = kid.get_object()
        if isinstance(kid, dict) and "/S" in kid:
            tags += [kid, *elements(kid)]
    return tags


@pytest.fixture(scope="module")
def file() -> PdfReader:
    return read(letter())


@pytest.fixture(scope="module")
def long() -> PdfReader:
    """Return a draft of several pages."""
    return read(letter(MANY, mark="draft"))


# ── the standards ──


def test_the_pdf_claims_pdfa_3a_and_pdfua_1(file):
    claims = file.root_object["/Metadata"].get_data().decode()
    assert 'pdfaid:part="3"' in claims
    assert 'pdfaid:conformance="A"' in claims
    assert 'pdfuaid:part="1"' in claims
    assert claims.count("<rdf:RDF ") == 1


def test_the_pdf_has_language_title_and_marks(file):
    root = file.root_object
    assert root["/Lang"] == "en"
    assert file.metadata.title == CONTENT["title"]
    assert file.metadata.author == "Example Bank"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert root["/MarkInfo"]["/Marked"]


def test_its_headings_are_tagged_and_bookmarked(file):
    tags = [element["/S"] for element in elements(file.root_object["/StructTreeRoot"])]
    assert [tag for tag in tags if tag.startswith("/H")] == ["/H1"] + ["/H2"] * len(HEADINGS)
    title, below = file.outline
    assert title.title == CONTENT["title"]
    assert [mark.title for mark in below] == [languages()["en"][name] for name in HEADINGS]


def test_the_qr_code_has_a_text_and_its_place_on_the_page(file):
    [figure] = [element for element in elements(file.root_object["/StructTreeRoot"]) if element["/S"] == "/Figure"]
    assert figure["/Alt"] == f"QR code that leads to {letter().address}"
    left, bottom, right, top = figure["/A"]["/BBox"]
    assert right - left == pytest.approx(top - bottom) == pytest.approx(7.5 * 0.9 * 9.5, abs=0.1)
    assert 25 / 25.4 * 72 < left < right < POINTS["a4"][0] / 2
    assert 0 < bottom < top < POINTS["a4"][1]


def test_all_content_is_tagged_or_an_artifact(long):
    root = long.root_object["/StructTreeRoot"]
    reached = {element.indirect_reference.idnum for element in elements(root)}
    parents = root["/ParentTree"]["/Nums"]
    for number, page in enumerate(long.pages):
        operators = [operator for _, operator in page.get_contents().operations]
        assert operators.count(b"BMC") + operators.count(b"BDC") == operators.count(b"EMC")
        tagged = [
            operands[1]["/MCID"]
            for operands, operator in page.get_contents().operations
            if operator == b"BDC" and operands[0] != "/Artifact"
        ]
        assert tagged
        assert {parents[2 * number + 1][mcid].idnum for mcid in tagged} <= reached


def test_all_fonts_are_embedded(file):
    fonts = [font.get_object() for page in file.pages for font in page["/Resources"]["/Font"].values()]
    assert fonts
    for font in fonts:
        descriptor = font["/DescendantFonts"][0]["/FontDescriptor"]
        assert "/FontFile2" in descriptor or "/FontFile3" in descriptor


# ── paper ──


@pytest.mark.parametrize(("paper", "mark"), [("a4", ""), ("letter", "withdrawn")])
def test_the_paper_is_the_one_asked_for_and_the_recipient_shows_in_the_window_of_an_envelope(paper, mark):
    fonts = []

    def visit(text, on_page, on_line, *_) -> None:
        if "Avery Example" in text:
            x, y = on_line[4:]
            fonts.append((x * on_page[0] + y * on_page[2] + on_page[4], x * on_page[1] + y * on_page[3] + on_page[5]))

    pages = read(letter(mark=mark), paper).pages
    for page in pages:
        assert (page.mediabox.width, page.mediabox.height) == pytest.approx(POINTS[paper], abs=0.01)
    first = pages[0]
    first.extract_text(visitor_text=visit)
    (left, height), _ = fonts  # the other is the greeting
    from_top = float(first.mediabox.height) - height
    assert 20 < left / 72 * 25.4 < 30
    assert 52 < from_top / 72 * 25.4 < 62


def test_pages_are_numbered_and_carry_the_letters_number(long):
    assert len(long.pages) > 3
    for number, page in enumerate(long.pages, 1):
        assert f"{number} / {len(long.pages)}" in page.extract_text()
        assert letter().notice_id in page.extract_text()


def test_a_mark_crosses_every_page(long):
    for page in long.pages:
        assert languages()["en"]["draft"].upper() in page.extract_text()


@pytest.mark.parametrize(("language", "mark"), [("de", "withdrawn"), ("fr", "draft")])
def test_a_mark_is_in_the_letters_language(language, mark):
    assert languages()[language][mark].upper() in pdf_text(read(letter({"language": language}, mark=mark)))


# ── content ──


def test_everything_the_letter_says_is_on_paper(file):
    printed = pdf_text(file)
    for name in ("decision_summary", "main_factors", "role_of_automated_system", "inputs_used"):
        for item in CONTENT[name]:
            assert item["statement"] in printed
            assert item["source"] in printed
    assert all(right in printed for right in CONTENT["rights"])
    assert "4F7K-92QD" in printed


def test_the_proof_is_inside_as_a_file(file):
    assert file.attachments == {"notice-proof.json": [letter().proof]}
    [name] = {file_reference.get_object()["/UF"] for file_reference in file.root_object["/AF"]}
    assert name == "notice-proof.json"
    assert file.root_object["/AF"][0]["/AFRelationship"] == "/Supplement"


def test_a_letter_without_a_proof_has_no_file_inside():
    assert read(letter(proof=b"")).attachments == {}


def test_markup_is_text_and_links_lead_to_the_letters_page_alone():
    hostile = letter({"title": f"{HOSTILE}</title></rdf:RDF>]]>", "rights": [HOSTILE]}, recipient={"name": HOSTILE})
    printed = read(hostile)
    assert pdf_text(printed).count("<img src=x onerror=alert(1)>") == 4
    links = [annotation.get_object() for page in printed.pages for annotation in page.get("/Annots", [])]
    assert {link["/A"]["/URI"] for link in links if "/A" in link} == {letter().address}
    assert 'pdfuaid:part="1"' in printed.root_object["/Metadata"].get_data().decode()


def test_scripts_that_the_base_font_has_are_printed():
    rights = ["Ποια είναι η απόφαση.", "Решение принято.", "ההחלטה", "القرار"]
    printed = pdf_text(read(letter({"rights": rights})))
    assert "\ufffd" not in printed
    assert all(right in printed for right in rights[:2])


def test_characters_without_a_font_are_replaced():
    rights = [f"before {unreadable} after" for unreadable in ("\u0378", "\ue000", "\x00", "\ud800", "\ufffe")]
    assert pdf_text(read(letter({"rights": rights}))).count("before \ufffd after") == len(rights)


def test_an_empty_letter_can_be_printed():
    bare = letter(dict.fromkeys(CONTENT), recipient={}, sender="", address="", proof=b"")
    assert languages()["en"]["title"] in pdf_text(read(bare))


# ── the same bytes, here and elsewhere ──

_ELSEWHERE = """
import hashlib
from django.conf import settings
settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"]}])
import django
django.setup()
from notices import letters
from tests.notices.test_letters import letter
assert letters.render_text(letter()) and letters.render_html(letter())
print(hashlib.sha256(letters.render_pdf(letter(), "a4")).hexdigest())
"""


def elsewhere(**environment: str) -> subprocess.CompletedProcess[str]:
    """Make the letter's PDF in another process, which prints its hash."""
    return subprocess.run(
        [sys.executable, "-c", _ELSEWHERE],
        cwd=Path(__file__).parents[2], env=os.environ | environment, capture_output=True, text=True,
    )  # fmt: skip


def test_the_same_letter_is_the_same_bytes():
    here = letters.render_pdf(letter(), "a4")
    assert letters.render_pdf(letter(), "a4") == here
    assert elsewhere(PYTHONHASHSEED="7").stdout.strip() == hashlib.sha256(here).hexdigest()


def test_without_pango_the_error_names_the_package_to_install(tmp_path):
    # A broken library ahead of the real one on the search path.
    (tmp_path / "libpango-1.0.so.0").touch()
    failed = elsewhere(LD_LIBRARY_PATH=str(tmp_path))
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("notices.letters.pdf.NoPdfHere:")
    assert "Pango" in letters.NoPdfHere.sentence
