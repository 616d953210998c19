from pydantic import BeforeValidator


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Accepts 300.0 as an integer: JSON Schema does, strict pydantic does not. In `Annotated`, put it after `Field`, or the
bounds disappear from the OpenAPI document."""
