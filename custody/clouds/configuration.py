"""Base of all clouds' configurations: the checks and types they share."""

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from config import secret_references
from config.clouds.name_patterns import endpoint_problems
from config.errors import DomainError

_MESSAGES = {"extra_forbidden": "There is no such setting.", "missing": "This setting is required."}


class CloudRefusal(DomainError):
    """A configuration names something that cannot be used.

    Args:
        what: what is wrong.
        fix: what to do about it.
    """

    code: ClassVar = "cloud_refusal"
    status: ClassVar = 422

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what} {fix}")
        self.what, self.fix = what, fix


class ConfigurationRefused(DomainError):
    """Names of the configuration are missing, unknown or wrong."""

    code: ClassVar = "configuration_refused"
    status: ClassVar = 422

    def __init__(self, error: ValidationError) -> None:
        self.problems = [*_sentences(error)]
        super().__init__(" ".join(self.problems))


class CloudConfiguration(BaseModel):
    """The settings of one provider. Their docstrings are the help texts of the guides and the back office. Subclasses
    set `use_attribute_docstrings`, which is slow, so each is imported when it is first used."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    credentials: ClassVar[str] = ""
    """The credentials it needs beside the required settings, in a sentence."""

    @model_validator(mode="after")
    def _has_credentials(self) -> Self:
        if self.lacks_credentials():
            raise ValueError(self.credentials)
        return self

    def lacks_credentials(self) -> bool:
        return False

    @property
    def folder(self) -> str:
        """Return the beginning of every object's name: the prefix with one slash at its end, or "" without a prefix."""
        prefix: str = getattr(self, "prefix", "").strip("/")
        return f"{prefix}/" if prefix else ""

    def secret(self, organization_id: uuid.UUID) -> str:
        """Return the present value of `secret_ref`, or "" if none is named.

        Raises:
            SecretUnavailable
        """
        reference: str = getattr(self, "secret_ref", "")
        return secret_references.resolve(reference, organization_id) if reference else ""


def like(pattern: str, sentence: str) -> Any:
    """Return a validator for `Annotated`: the whole text must match the pattern."""

    def check(value: str) -> str:
        # linear: the only patterns are those of `config/clouds/name_patterns.py` and of the providers
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)


def _no_problems(find: Callable[[str], Iterator[str]]) -> Any:
    def check(value: str) -> str:
        for problem in find(value):
            raise ValueError(problem.partition(": ")[2])
        return value

    return AfterValidator(check)


def _reference(value: str) -> str:
    try:
        secret_references.require_allowed(value)
    except secret_references.ReferenceRefused as error:
        raise ValueError(error.sentence) from None
    return value


SecretRef = Annotated[str, AfterValidator(_reference)]
Endpoint = Annotated[str, Field(max_length=1024), _no_problems(endpoint_problems)]
EndpointWithPath = Annotated[
    str, Field(max_length=1024), _no_problems(lambda value: endpoint_problems(value, may_have_path=True))
]
Prefix = Annotated[
    str,
    like(
        r"((?!\.{1,2}(/|$))[\w.=-]+/)*(?!\.{1,2}/?$)[\w.=-]+/?",  # an address with .. would lead to another bucket
        "A prefix has letters, digits, and - _ . = between slashes. It begins with none, and . or .. is no part of it.",
    ),
    Field(max_length=256),
]


def _sentences(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each problem, with the setting's name and without its value."""
    for problem in error.errors(include_url=False, include_input=False):
        name = ".".join(str(step)[:64] for step in problem["loc"])
        message = _MESSAGES.get(problem["type"]) or problem["msg"].removeprefix("Value error, ").rstrip(".") + "."
        yield f"{name}: {message}" if name else message
