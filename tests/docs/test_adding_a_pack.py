"""The guide to packs names every key that a pack can have, and no others in its tables."""

import re

import pytest
from pydantic import BaseModel

from notices import packs
from tests.docs.documents import CHECKOUT, blocks, first_column, text

GUIDE = "docs/adding-a-pack.md"
_PROSE = re.sub(r"^```.*?^```$", "", text(GUIDE), flags=re.MULTILINE | re.DOTALL)
_CODE = [*re.findall(r"`([^`]+)`", _PROSE), *(block.code for block in blocks(CHECKOUT / GUIDE))]
NAMED = set(re.findall(r"\w+", " ".join(_CODE)))


def _models(kind: type[BaseModel] = BaseModel) -> list[type[BaseModel]]:
    below = [each for child in kind.__subclasses__() for each in (child, *_models(child))]
    return [each for each in dict.fromkeys(below) if each.__module__.startswith(packs.__name__)]


PARTS = _models()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_key_of_a_pack_is_named(part: type[BaseModel]):
    assert [name for name in part.model_fields if name not in NAMED] == []


def test_no_table_has_a_key_that_no_pack_has():
    keys = {name for part in PARTS for name in part.model_fields}
    tables = [table for table in re.split(r"\n\n", _PROSE) if re.match(r"(?:\| |.*\n\| )?\| key ", table)]
    told = {name for table in tables for cell in first_column(table) for name in re.findall(r"[a-z_]+", cell)}
    assert len(tables) > 4
    assert told <= keys | {"placeholder"}
