"""What is wrong with a request or a record, in the contract's validation body."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from config.errors import Invalid
from config.http.strict_json import InvalidJSON

_MOST_PROBLEMS = 100  # who has more of them learns nothing from the rest, and the answer stays small
_LONGEST_ECHO = 4096  # characters


def invalid_json(error: InvalidJSON, *, private: type[BaseModel] | None = None) -> Invalid:
    """A body that is no acceptable JSON, in pydantic's terms; `loc` is the path of the value that is refused, or ends
    with the character offset where the bytes are no JSON at all.

    Args:
        private: the model of a body of which no key may be echoed but its own fields' names.
    """
    reason = error.general if private else error.reason
    where = [error.position] if error.path is None else _told(error.path, private)
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


def _told(path: Sequence[str | int], private: type[BaseModel] | None) -> list[str | int]:
    """As much of a path as an answer may repeat: not beyond a private key, nor more than anybody would read."""
    known = _names(private) if private else None
    told, room = [], _LONGEST_ECHO
    for step in path:
        room -= len(str(step))
        if room < 0 or (known is not None and isinstance(step, str) and step not in known):
            break
        told.append(step)
    return told


def _names(model: type[BaseModel]) -> set[str]:
    """The names of all fields of a model, at any depth."""
    schema = model.model_json_schema()
    return {name for part in (schema, *schema.get("$defs", {}).values()) for name in part.get("properties", ())}


def invalid_model(error: ValidationError, where: str, private: Iterable[str] = ()) -> Invalid:
    """What pydantic found wrong.

    Args:
        where: `body`, `query` or `path`, the first part of every `loc`.
        private: top-level fields whose values must not be echoed.
    """
    hidden = frozenset(private)
    return Invalid([_problem(found, where, hidden) for found in error.errors(include_url=False)[:_MOST_PROBLEMS]])


def _problem(found: ErrorDetails, where: str, hidden: frozenset[str]) -> dict[str, Any]:
    problem: dict[str, Any] = {"type": found["type"], "loc": [where, *found["loc"]], "msg": found["msg"]}
    echoed = found["input"]
    if (
        found["loc"]
        and isinstance(echoed, str | int | float | bool)
        and not hidden.intersection(map(str, found["loc"]))
        and not (isinstance(echoed, str) and len(echoed) > _LONGEST_ECHO)
    ):
        problem["input"] = echoed
    if found.get("ctx"):
        problem["ctx"] = {name: str(v) if isinstance(v, Exception) else v for name, v in found["ctx"].items()}
    return problem


def repeated_parameters(names: Iterable[str]) -> Invalid:
    """Parameters of the query that are there more than once: nobody can tell which of their values was meant."""
    return Invalid([{"type": "repeated", "loc": ["query", name], "msg": "Send it once"} for name in names])


def parameter(adapter: TypeAdapter[Any], where: str, name: str, value: str) -> Any:
    """A parameter of the `path` or a `header`, checked. Raises `Invalid`."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = invalid_model(error, where).problems[0]
        raise Invalid([{**problem, "loc": [where, name]}]) from None
