"""Custody test of a customer's key and storage in their own account. It changes nothing there.

Each provider's `proof` module lists its questions: the call, the permission it needs, and the meaning of each answer.
`custody.clouds.proof` asks them in parallel. A second list, `ALLOWED`, is enforced below the clients: a call that is
not listed raises before it is sent.
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
"""Id of the first check, which sends nothing."""
_MAX_NAMES = 20
_MAX_NAME = 64  # characters


class Proof(NamedTuple):
    """The checks of a cloud, the needs of storing and disposing of records that no check has shown, and the names of
    objects that the cloud stored although no call could succeed."""

    checks: list[Check]
    not_proven: list[str]
    stored: list[str]


def questions(provider: str) -> list[Question]:
    """Return a provider's questions, in the order in which the checks are shown."""
    asked: list[Question] = _module(provider).QUESTIONS
    return asked


def prove(
    provider: str,
    config: Mapping[str, str],
    *,
    organization_id: uuid.UUID,
    done: Callable[[int], object] = lambda _: None,
) -> Proof:
    """Ask a cloud all questions about a configuration.

    Args:
        done: called with the number of checks that have ended since the last call.
    """
    first, configuration = _configured(provider, config)
    done(1)
    if configuration is None:
        done(len(questions(provider)))
        skipped = [not_asked(question, first.title) for question in questions(provider)]
        return Proof([first, *skipped], [CONFIGURATION], [])
    cloud: Cloud = _module(provider).CLOUD(configuration, organization_id)
    asked = ask_all(cloud, questions(provider), done=done)
    return Proof([first, *asked], not_proven(cloud, questions(provider), asked), [*cloud.stored])


def _module(provider: str) -> Any:
    """Return a provider's `proof` module. The first call imports the cloud's library."""
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
    shown = ", ".join(name[:_MAX_NAME] for name in names[:_MAX_NAMES])
    return f"There is no such setting, so it is ignored: {shown}."
