"""Hooks of schemathesis: a serializer for batches, and filters of generated requests."""

import os
from collections import Counter
from typing import Any

import schemathesis

_ALIKE = ("incorrect_type", "unspecified_http_method")
_met: Counter[tuple[str, ...]] = Counter()
_keys: set[str] = set()


@schemathesis.serializer("application/x-ndjson")
def ndjson(context: Any, value: Any) -> bytes:
    """Send a batch as bytes of any content: each line has an answer."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Keep a sample of the wrong types and wrong methods, because one place each refuses them. A value gets two of the
    five wrong types, the next value others; an operation gets two of the wrong methods."""
    about = case.meta.phase.data
    if getattr(about, "scenario", None) not in _ALIKE:
        return True
    where = (about.scenario, case.operation.label, str(about.parameter), str(about.location))
    _met[where] += 1
    return _met[where] == 1 or (_met[where] + len(_met)) % 4 == 0


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    if case.path_parameters and case.path_parameters.get("key_id") == os.environ["OWN_KEY_ID"]:
        case.path_parameters["key_id"] = "0" * 16  # else it would find its own key in the list, and revoke it
    # It sends the same key with many requests, and all but the first would be refused for that.
    if key := (case.headers or {}).get("Idempotency-Key"):
        if key in _keys:
            del case.headers["Idempotency-Key"]
        _keys.add(key)
