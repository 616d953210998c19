"""Pictures in the documents: the script makes each, a document shows it with an alternative text, and it is small."""

import re
from pathlib import Path

import pytest
from PIL import Image

from docs.screenshots import OF_THE_TOUR, PICTURES
from tests.docs.documents import CHECKOUT, DOCUMENTS, text

_SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]*\.png)\)")
_MAX_BYTES, _MAX_WIDTH = 150_000, 1280
FILES = sorted(PICTURES.glob("*.png"))


def test_the_script_makes_every_picture_and_a_document_shows_it():
    scripts = text("docs/screenshots.py") + text("docs/walk.py")
    made = {*re.findall(r'shoot\(\s*\w+,\s*"([\w-]+)"', scripts), *OF_THE_TOUR.values()}
    shown = {(path.parent / file).resolve() for path in DOCUMENTS for _, file in _SHOWN.findall(path.read_text())}
    assert {file.stem for file in FILES} == made
    assert set(FILES) == shown


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_picture_is_small_enough_to_load_and_to_read(file: Path):
    assert file.stat().st_size < _MAX_BYTES
    with Image.open(file) as image:
        assert image.width <= _MAX_WIDTH


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_every_picture_has_a_distinct_alternative_text(document: Path):
    texts = [alternative for alternative, _ in _SHOWN.findall(document.read_text())]
    assert all(len(alternative.split()) >= 4 for alternative in texts)
    assert len(texts) == len(set(texts))
