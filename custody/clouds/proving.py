"""Proving a customer's key and storage against their own account, without changing anything there.

Each provider's module lists its questions: what is asked of the cloud, which permission that needs, and what its answer
means. `custody.clouds.proof` asks them in parallel. What may be sent is listed a second time, as `ALLOWED`, and held
below the clients: a call that is not on the list raises before it is sent.
"""

import uuid
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from custody import clouds
from custody.clouds import CloudConfiguration, ConfigurationRefused
from custody.clouds.proof import Check, Cloud, Finding, Question, ask_all, not_asked, not_proven

__all__ = ["CONFIGURATION", "Check", "Proof", "Question", "prove", "questions"]

CONFIGURATION = "configuration"
"""The first check, which asks nobody."""
_MOST_NAMES = 20
_LONGEST_NAME = 64


class Proof(NamedTuple):
    """The checks of a cloud, and what storing or disposing of records needs and none of them has shown."""

    checks: list[Check]
    not_proven: list[str]


def questions(provider: str) -> list[Question]:
    """What is asked of a provider, in the order in which the checks are shown."""
    asked: list[Question] = _module(provider).QUESTIONS
    return asked


def prove(
    provider: str,
    config: Mapping[str, str],
    *,
    organization_id: uuid.UUID,
    done: Callable[[int], object] = lambda _: None,
) -> Proof:
    """Ask everything of a cloud that its configuration names.

    Args:
        done: is called with the number of checks that have come to an end since the last call.
    """
    first, configuration = _configured(provider, config)
    done(1)
    if configuration is None:
        done(len(questions(provider)))
        skipped = [not_asked(question, first.title) for question in questions(provider)]
        return Proof([first, *skipped], [CONFIGURATION])
    cloud: Cloud = _module(provider).CLOUD(configuration, organization_id)
    asked = ask_all(cloud, questions(provider), done=done)
    return Proof([first, *asked], not_proven(cloud, questions(provider), asked))


def _module(provider: str) -> Any:
    """It is imported with the library of its cloud when it is first asked for."""
    return import_module(f"custody.clouds.{provider}.proof")


def _configured(provider: str, config: Mapping[str, str]) -> tuple[Check, CloudConfiguration | None]:
    known = clouds.of(provider).model_fields
    unknown = [name for name in config if name not in known]
    try:
        configuration = clouds.checked(provider, {name: value for name, value in config.items() if name in known})
    except ConfigurationRefused as refused:
        finding = Finding("fail", " ".join(refused.problems), f"{_needs(provider)} {_not_known(unknown)}".strip())
        return _first(finding), None
    if unknown:
        return _first(Finding("warn", _not_known(unknown), _needs(provider))), configuration
    return _first(Finding("pass", "Everything that is needed is named.")), configuration


def _first(finding: Finding) -> Check:
    return Check(CONFIGURATION, finding.status, "", "", finding.detail, finding.fix, 0)


def _needs(provider: str) -> str:
    settings = clouds.of(provider)
    required = [name for name, field in settings.model_fields.items() if field.is_required()]
    optional = [name for name in settings.model_fields if name not in required]
    credentials = f" {settings.credentials}" if settings.credentials else ""
    return f"Name {', '.join(required)}.{credentials} Optional: {', '.join(optional)}."


def _not_known(names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
    return f"There is no such setting, so it is ignored: {shown}."
