"""What schemathesis does not know by itself."""

import os
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def ndjson(context: Any, value: Any) -> bytes:
    """A batch is bytes, whatever they say: each line has an answer of its own."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """It finds the key that it works with in the list of keys, and would revoke it."""
    if case.path_parameters and case.path_parameters.get("key_id") == os.environ["OWN_KEY_ID"]:
        case.path_parameters["key_id"] = "0" * 16
