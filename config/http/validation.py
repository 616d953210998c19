"""Problems of a request or a record, in the form of the contract's validation body."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from config.errors import Invalid
from config.http.strict_json import InvalidJSON

_MAX_PROBLEMS = 100  # more would help no caller, and the answer stays small
_MAX_ECHO = 4096  # characters


def invalid_json(error: InvalidJSON, *, private: type[BaseModel] | None = None) -> Invalid:
    """Return the refusal of unacceptable JSON, in pydantic's terms.

    `loc` is the path of the refused value, or the character offset if the bytes are not JSON at all.

    Args:
        private: the model of a body whose keys must not be echoed, except the model's own field names.
    """
    reason = error.general if private else error.reason
    where = [error.position] if error.path is None else _echoable(error.path, private)
    return Invalid(
        [
            {
                "type": "json_invalid",
                "loc": ["body", *where],
                "msg": f"JSON decode error: {reason}",
                "ctx": {"error": reason},
            }
        ]
    )


def _echoable(path: Sequence[str | int], private: type[BaseModel] | None) -> list[str | int]:
    """Return the beginning of a path: up to the first private key, and within `_MAX_ECHO` characters."""
    known = _names(private) if private else None
    steps, remaining = [], _MAX_ECHO
    for step in path:
        remaining -= len(str(step))
        if remaining < 0 or (known is not None and isinstance(step, str) and step not in known):
            break
        steps.append(step)
    return steps


def _names(model: type[BaseModel]) -> set[str]:
    """Return the names of all fields of a model, at any depth."""
    schema = model.model_json_schema()
    return {name for part in (schema, *schema.get("$defs", {}).values()) for name in part.get("properties", ())}


def invalid_model(error: ValidationError, where: str, private: Iterable[str] = ()) -> Invalid:
    """Return pydantic's problems as a refusal.

    Args:
        where: `body`, `query` or `path`, the first part of each `loc`.
        private: top-level fields whose values must not be echoed.
    """
    hidden = frozenset(private)
    return Invalid([_problem(details, where, hidden) for details in error.errors(include_url=False)[:_MAX_PROBLEMS]])


def _problem(details: ErrorDetails, where: str, hidden: frozenset[str]) -> dict[str, Any]:
    problem: dict[str, Any] = {
        "type": details["type"],
        "loc": [where, *details["loc"]],
        "msg": details["msg"],
    }
    echoed = details["input"]
    if (
        details["loc"]
        and isinstance(echoed, str | int | float | bool)
        and not hidden.intersection(map(str, details["loc"]))
        and not (isinstance(echoed, str) and len(echoed) > _MAX_ECHO)
    ):
        problem["input"] = echoed
    if details.get("ctx"):
        problem["ctx"] = {name: str(v) if isinstance(v, Exception) else v for name, v in details["ctx"].items()}
    return problem


def repeated_parameters(names: Iterable[str]) -> Invalid:
    """Return the refusal of query parameters that occur more than once, since their value is ambiguous."""
    return Invalid([{"type": "repeated", "loc": ["query", name], "msg": "Send it once"} for name in names])


def parameter(adapter: TypeAdapter[Any], where: str, name: str, value: str) -> Any:
    """Return the validated value of a parameter of the `path` or a `header`. Raises Invalid."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = invalid_model(error, where).problems[0]
        raise Invalid([{**problem, "loc": [where, name]}]) from None
