from pydantic import BeforeValidator


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""To JSON Schema 300.0 is an integer, as it is to JSON; to strict pydantic it is none. In `Annotated` it stands after
`Field`, or the bounds would vanish from the OpenAPI document."""
