"""Mails to affected persons, in the language of their letter. Each language has a file of texts here."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from accounts import mail
from notices.packs import base_language

_DIRECTORY = Path(__file__).parent


def send(
    template: str,
    *,
    to: str,
    language: str,
    organization: str,
    context: Mapping[str, Any],
    attachments: Sequence[tuple[str, bytes, str]] = (),
) -> None:
    """Send a mail.

    Args:
        template: `letter` or `review_request`, a template of templates/mail and a table of the texts.
        language: of the letter, with or without a region.
        context: for the template, in addition to the texts.
        attachments: files, each as name, content and media type.

    Raises:
        accounts.mail.Undeliverable, OSError, smtplib.SMTPException, ValueError: as in `accounts.mail.send`.
    """
    name = " ".join(organization.split())  # a subject is one line
    texts = {key: text.format(organization=name) for key, text in _texts(base_language(language))[template].items()}
    mail.send(
        template,
        to=to,
        subject=texts["subject"],
        context={"texts": texts, "language": language, **context},
        attachments=attachments,
    )


@cache
def _texts(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((_DIRECTORY / f"{language}.toml").read_text("utf-8"))
