"""Argument `--config NAME=VALUE …` of commands about customers' clouds."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser


def add(parser: CommandParser, *, help: str) -> None:
    parser.add_argument("--config", nargs="*", action="extend", default=[], metavar="NAME=VALUE", help=help)


def given(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that were given. Raises CommandError."""
    return dict(_pair(text) for text in options["config"])


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise CommandError("--config takes NAME=VALUE, such as bucket=records.")
    return name, value
