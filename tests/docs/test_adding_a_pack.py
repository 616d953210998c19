"""The guide to packs: it names every key of a pack, and its tables have no others."""

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
    below = [model for child in kind.__subclasses__() for model in (child, *_models(child))]
    return [model for model in dict.fromkeys(below) if model.__module__.startswith(packs.__name__)]


PARTS = _models()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_key_of_a_pack_is_named(part: type[BaseModel]):
    assert [name for name in part.model_fields if name not in NAMED] == []


def test_the_tables_have_only_keys_of_packs():
    keys = {name for part in PARTS for name in part.model_fields}
    tables = [table for table in re.split(r"\n\n", _PROSE) if re.match(r"(?:\| |.*\n\| )?\| key ", table)]
    documented = {name for table in tables for cell in first_column(table) for name in re.findall(r"[a-z_]+", cell)}
    assert len(tables) > 4
    assert documented <= keys | {"placeholder"}
