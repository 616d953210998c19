"""The table of warnings in docs/notices.md: it has every kind once."""

import re

from notices.packs import packs
from tests.docs.documents import CHECKOUT, section

_RULES = "".join(path.read_text() for path in sorted(CHECKOUT.glob("notices/warnings/*.py")))
_OF_CODE = set(re.findall(r'[fF]inding\(\s*"(\w+)"', _RULES))
_OF_CODE |= set(re.findall(r'kind=[^)]*?"(\w+)"', (CHECKOUT / "notices/checklist.py").read_text()))
_OF_PACKS = {weak.id for pack in packs().values() for weak in pack.weak_reasons}


def test_exactly_the_existing_kinds_of_warnings_are_explained_once():
    rows = [line.split("|")[1] for line in section("docs/notices.md", "Warnings").splitlines() if line[:3] == "| `"]
    documented = [kind for cell in rows for kind in re.findall(r"`(\w+)`", cell)]
    assert len(_OF_CODE) > 20
    assert sorted(documented) == sorted(_OF_CODE | _OF_PACKS)
