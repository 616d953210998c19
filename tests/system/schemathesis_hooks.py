"""What schemathesis does not know by itself."""

import os
from collections import Counter
from typing import Any

import schemathesis

_ALIKE = ("incorrect_type", "unspecified_http_method")
_met: Counter[tuple[str, ...]] = Counter()
_keys: set[str] = set()


@schemathesis.serializer("application/x-ndjson")
def ndjson(context: Any, value: Any) -> bytes:
    """A batch is bytes, whatever they say: each line has an answer of its own."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Wrong types of all values, and methods that a path does not have, are refused in one place each. So a value gets
    two of the five wrong types that there are, the next one others; an operation as many of the wrong methods."""
    about = case.meta.phase.data
    if getattr(about, "scenario", None) not in _ALIKE:
        return True
    where = (about.scenario, case.operation.label, str(about.parameter), str(about.location))
    _met[where] += 1
    return _met[where] == 1 or (_met[where] + len(_met)) % 4 == 0


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    if case.path_parameters and case.path_parameters.get("key_id") == os.environ["OWN_KEY_ID"]:
        case.path_parameters["key_id"] = "0" * 16  # it finds its own key in the list of keys, and would revoke it
    # It sends one key with many requests, and all but the first would be refused for that, whatever else they are.
    if key := (case.headers or {}).get("Idempotency-Key"):
        if key in _keys:
            del case.headers["Idempotency-Key"]
        _keys.add(key)
