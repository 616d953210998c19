"""A letter is typeset as PDF once, and the file goes when its notice does."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from notices import letters, selectors
from notices.models import Notice, StoredPdf
from notices.services import derived_rows, stored_pdfs
from tests.disposals import dispose_of
from tests.notices.conftest import approve, done, edit, stored
from tests.notices.test_letters import letter
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(monkeypatch):
    """Replace the renderer by a fast one. Return a list that collects the paper of each rendering."""
    papers = []

    def render(letter, paper):
        papers.append(paper)
        return f"{letter.content['title']} {letter.mark} {paper}\0".encode()

    monkeypatch.setattr(letters, "render_pdf", render)
    return papers


def pdf(api, notice, paper="a4"):
    return api.get(f"/v1/notices/{notice['notice_id']}/letter?format=pdf&paper={paper}")


def rows():
    return StoredPdf.objects.unscoped("a test")


def test_a_letter_is_typeset_once_for_each_paper(api, notice, made):
    first = pdf(api, notice)
    assert (first.status_code, pdf(api, notice).content) == (200, first.content)
    assert pdf(api, notice, "letter").content != first.content
    assert made == ["a4", "letter"]


def test_the_next_revision_and_the_approved_letter_take_its_place(api, notice, made):
    pdf(api, notice)
    done(edit(api, notice, title="Another title"))
    assert b"Another title draft" in pdf(api, notice).content
    done(approve(api, notice))
    assert b"Another title  a4" in pdf(api, notice).content
    pdf(api, notice)
    assert (len(made), rows().count()) == (3, 1)


def test_the_file_goes_with_the_notice_and_does_not_come_back(api, notice, made):
    pdf(api, notice)
    row = stored(api, notice)
    Notice.objects.unscoped("a test").update(state="withdrawn")
    dispose_of(api.organization)
    derived_rows.store(StoredPdf(notice=row, paper="a4", digest="0", file=b"words"), key=["notice", "paper"])
    assert not rows().exists()


def test_a_busy_renderer_answers_retry_after_and_serves_stored_files(api, notice, made, monkeypatch):
    pdf(api, notice)
    monkeypatch.setattr(stored_pdfs, "_WAIT_SECONDS", 0)
    with stored_pdfs._turn:
        answer = pdf(api, notice, "letter")
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert pdf(api, notice).status_code == 200


def test_a_file_above_the_bound_is_answered_and_not_stored(api, notice, made, monkeypatch):
    monkeypatch.setattr(stored_pdfs, "MAX_BYTES", 1)
    assert pdf(api, notice).status_code == 200
    assert not rows().exists()


@pytest.mark.slow
def test_the_stored_file_is_the_one_that_the_renderer_makes(api, notice):
    own = selectors.letter(stored(api, notice))
    assert pdf(api, notice).content == pdf(api, notice).content == letters.render_pdf(own, "a4")


def test_two_requests_at_once_typeset_a_letter_once(monkeypatch):
    files, both_have_looked = [], threading.Barrier(2)
    looks = Counter()

    def look(*_):
        looks[threading.get_ident()] += 1
        if looks[threading.get_ident()] == 1:
            both_have_looked.wait(HANGS_SECONDS)
            return None
        return files[0] if files else None

    def make(*_):
        files.append(b"file %d" % len(files))
        return files[-1]

    monkeypatch.setattr(stored_pdfs, "_stored", look)
    monkeypatch.setattr(stored_pdfs, "_made", make)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(stored_pdfs.pdf, Notice(), letter(), "a4") for _ in range(2)]
        assert [answer.result() for answer in answers] == [b"file 0"] * 2
