"""Letters over the API: HTML, PDF, text, and the proof file."""

import base64
import hashlib
import json
import re

import pytest

from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, edit, shown, step

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014:ResourceWarning"),  # as test_letter_pdf says
]

RECIPIENT = {"name": "A. Person", "address": ["1 Example Street", "Example City"], "reference": "application 7"}


def letter(api, notice, **query):
    return api.get(f"/v1/notices/{notice['notice_id']}/letter", **query)


@pytest.fixture
def addressed(api, notice) -> dict:
    return drafted(api, recipient=RECIPIENT)


@pytest.mark.parametrize(
    ("form", "content_type", "name"),
    [
        ("html", "text/html; charset=utf-8", "letter.html"),
        ("pdf", "application/pdf", "letter.pdf"),
        ("text", "text/plain; charset=utf-8", "letter.txt"),
        ("proof", "application/json", "notice-proof.json"),
    ],
)
def test_each_form_says_what_it_is_and_is_kept_by_no_cache(api, approved, form, content_type, name):
    answer = letter(api, approved, format=form)
    assert (answer.status_code, answer["Content-Type"]) == (200, content_type)
    assert answer["Content-Disposition"] == f'inline; filename="{name}"'
    assert answer["Cache-Control"] == "private, no-store"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_html_is_the_default_format(api, addressed):
    assert letter(api, addressed)["Content-Type"].startswith("text/html")


def test_the_page_may_use_its_own_style_and_nothing_else(api, approved):
    answer = letter(api, approved)
    policy = dict(rule.strip().split(" ", 1) for rule in answer["Content-Security-Policy"].split(";"))
    (style,) = re.findall(r"<style>(.*?)</style>", answer.content.decode(), re.DOTALL)
    digest = re.fullmatch(r"'sha256-(.+)'", policy["style-src"]).group(1)
    assert base64.b64decode(digest) == hashlib.sha256(style.encode()).digest()
    assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
    assert "script-src" not in policy
    assert "unsafe" not in str(policy)


@each_case("query", [{"format": "docx"}, {"paper": "a5"}, {"size": "a4"}, {"format": ""}])
def test_an_invalid_query_is_refused(api, notice, query):
    assert letter(api, notice, **query).status_code == 422


def test_a_draft_says_that_it_is_one_and_has_no_address_to_check_it(api, addressed):
    text = letter(api, addressed, format="text").content.decode()
    assert "DRAFT" in text.upper()
    assert "/n/" not in text
    assert letter(api, addressed, format="proof").status_code == 409
    assert "nothing to prove" in letter(api, addressed, format="proof").json()["detail"]


def test_an_approved_letter_has_an_address_and_says_where_to_check_it(api, addressed):
    approved = done(approve(api, addressed))
    for form in ("html", "text"):
        html = letter(api, approved, format=form).content.decode()
        for part in (*RECIPIENT["address"], "A. Person", "application 7", approved["public_address"]):
            assert part in html, form
        assert "DRAFT" not in html.upper()


def test_a_withdrawn_letter_says_so(api, approved):
    step(api, approved, "withdraw")
    assert "WITHDRAWN" in letter(api, approved, format="text").content.decode().upper()


def test_a_withdrawn_draft_has_no_proof(api, notice):
    step(api, notice, "withdraw")
    assert "WITHDRAWN" in letter(api, notice, format="text").content.decode().upper()
    assert letter(api, notice, format="proof").status_code == 409


def test_the_proof_is_the_file_whose_digest_is_the_letter_s_and_names_no_recipient(api, addressed):
    approved = done(approve(api, addressed))
    proof = letter(api, approved, format="proof").content
    assert hashlib.sha256(proof).hexdigest() == approved["letter_digest"]
    assert json.loads(proof)["content"] == approved["content"]
    for private in ("A. Person", "Example Street", "application 7", "Reviewer 7"):
        assert private not in proof.decode()


def test_an_approved_letter_stays_as_it_was_approved(api, approved, organization):
    before = letter(api, approved, format="text").content
    done(edit(api, done(step(api, approved, "versions")), title="Quite another title"))
    organization.name = "Renamed Bank"
    organization.save()
    assert letter(api, approved, format="text").content == before


def test_a_pdf_comes_in_two_sizes_of_paper(api, approved):
    sizes = {paper: letter(api, approved, format="pdf", paper=paper).content for paper in ("a4", "letter")}
    assert all(file.startswith(b"%PDF-") for file in sizes.values())
    assert sizes["a4"] != sizes["letter"]


def test_a_letter_shows_the_code_for_a_review_where_there_is_one(api, notice):
    code = re.compile(r"(?<![\w-])[A-Z2-7]{4}-[A-Z2-7]{4}(?![\w-])")
    edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
    assert not code.search(letter(api, notice, format="text").content.decode())
    done(approve(api, notice))
    assert code.search(letter(api, notice, format="text").content.decode())


def test_a_letter_shows_no_code_where_there_is_no_review(api, notice):
    edit(api, notice, human_review_available=False)
    done(approve(api, notice))
    assert shown(api, notice)["content"]["human_review_available"] is False
    assert not re.search(
        r"(?<![\w-])[A-Z2-7]{4}-[A-Z2-7]{4}(?![\w-])", letter(api, notice, format="text").content.decode()
    )
