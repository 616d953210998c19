"""The mails to affected persons, in the language of their letter. Their words are beside this, a file a language."""

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
        template: `letter` or `review_request`: of templates/mail, and a table of the words.
        language: of the letter, with or without a region.
        context: what the template shows beside the words.
        attachments: files, each as name, content and media type.

    Raises:
        accounts.mail.Undeliverable, OSError, smtplib.SMTPException, ValueError: as `accounts.mail.send` does.
    """
    name = " ".join(organization.split())  # a subject is one line whatever the organization is called
    said = {key: text.format(organization=name) for key, text in _words(base_language(language))[template].items()}
    mail.send(
        template,
        to=to,
        subject=said["subject"],
        context={"said": said, "language": language, **context},
        attachments=attachments,
    )


@cache
def _words(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((_DIRECTORY / f"{language}.toml").read_text("utf-8"))
