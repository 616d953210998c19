"""Processing a record up to its letter takes time in proportion to the record."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from notices import presenters
from notices.packs import packs
from notices.previews import Sender, preview
from notices.record_paths import Facts
from tests.cases import each_case
from tests.growth import assert_linear

SHAPES: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "factors by name": lambda n: {"outcome": {"principal_factors": {f"f{i}": -0.5 for i in range(n)}}},
    "amounts beside currencies": lambda n: {
        "events": {"application": {f"amount_{i}": i for i in range(n)} | {f"p{i}_currency": "USD" for i in range(n)}}
    },
    "terms beside units": lambda n: {
        "outcome": {"terms": {f"p{i}_x": i for i in range(n)} | {f"p{i}_unit": "kg" for i in range(n)}}
    },
    "a flat event": lambda n: {"events": {"application": {f"amount_{i}": i for i in range(n)}}},
    "names": lambda n: {"events": {"application": {f"name{i}": f"Abc Def{i}" for i in range(n)}}},
    "days in a reason": lambda n: {"outcome": {"reasons": ["12 March 2020, " * n]}},
    "a reason of many texts": lambda n: {"outcome": {"reasons": [{f"k{i}": f"The text {i}." for i in range(n)}]}},
    "factors in a list": lambda n: {
        "outcome": {"principal_factors": [{"name": f"f{i}", "value": i, "direction": "raised"} for i in range(n)]}
    },
}


@pytest.mark.slow
@each_case("shape", SHAPES)
def test_a_preview_grows_as_its_record_does(shape):
    sender = Sender("Example House", {})

    def make(size: int) -> bytes:
        record = {"decision_id": "d", "decided_at": "2026-11-01T10:00:00Z", **SHAPES[shape](size)}
        record["outcome"] = {"action": "denied", **record.get("outcome", {})}
        return json.dumps(record).encode()

    def work(record: bytes) -> None:
        presenters.preview(preview(Facts(record), packs()["us_ecoa_fcra"], sender), "text")

    assert_linear(work, make, 80)
