"""The table of fields in docs/srf-record.md: it agrees with the packs and drafts."""

import json

import pytest

from decisions.misspellings import PROFILE
from docs import record_fields
from notices import shapes
from notices.dry_runs import record_names
from notices.packs import packs
from tests.docs.documents import text

PAGE = text("docs/srf-record.md")
SCHEMA = json.loads(text("docs/srf-record.schema.json"))


def test_the_table_agrees_with_packs_and_drafts():
    assert record_fields.with_table(PAGE) == PAGE, "run `make docs`"


def test_every_field_that_a_pack_uses_has_a_row():
    rows = {line.split("`")[1] for line in record_fields.table().splitlines()[2:]}
    assert set(record_names()) <= rows
    asked = {path for pack in packs().values() for path in pack.record_paths}
    assert {path for path in asked - rows if "*" not in path and not path.startswith(shapes.PREFIX)} == set()


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("outcome.action", "| what was decided |"),
        ("outcome.reasons", "| why | **`us_ecoa_fcra`**"),
        ("events.<event>.<field>", "| information used |"),
        ("subject.language", "the language"),
        ("outcome.review.available", "whether a review is offered"),
        ("events.application.completed_at", "a deadline (`us_ecoa_fcra`)"),
        ("outcome.appeal.fair_hearing_days", "the text's `fair_hearing_days` (`us_medicaid`)"),
    ],
)
def test_a_row_says_what_the_field_is_used_for(field, says):
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{field}` |") and line.count("|") == 5]
    assert says in row


def test_the_profile_of_misspellings_agrees_with_the_schema():
    assert sorted(PROFILE) == sorted(_leaves(SCHEMA, ""))


def _leaves(schema: dict, path: str) -> list[str]:
    """Return the paths of a schema's properties, without positions in lists. Events have no fixed properties."""
    shapes = [schema, *schema.get("anyOf", [])]
    items = [
        item for shape in shapes if "items" in shape for item in (shape["items"], *shape["items"].get("anyOf", []))
    ]
    properties = {name: below for shape in (*shapes, *items) for name, below in shape.get("properties", {}).items()}
    if not properties or path == "events.":
        return [path.removesuffix(".")]
    return [leaf for name, below in properties.items() for leaf in _leaves(below, f"{path}{name}.")]
