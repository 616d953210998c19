from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from notices import packs
from notices.letters import fonts

DIRECTORY = Path(__file__).parent


@register()
def packs_are_valid(**_: Any) -> list[CheckMessage]:
    """Report broken packs as errors, which stop the start: a notice must not be drafted under half a law."""
    return [Error(problem, id="notices.E001") for problem in _problems()]


@register()
def languages_have_words(**_: Any) -> list[CheckMessage]:
    """Report languages of packs without words for sentences, letter frame, mails, warnings or public page."""
    return [] if _problems() else [Error(f"{file} is missing.", id="notices.E002") for file in _missing()]


@register(deploy=True)
def letters_have_fonts(**_: Any) -> list[CheckMessage]:
    """Warn about missing fonts: a PDF shows a replacement character for each missing glyph."""
    return [
        Warning(f"No font draws {what}: letters as PDF show � there.", f"apt-get install {package}", id="notices.W001")
        for package, what in fonts.missing()
    ]


def _problems() -> Sequence[str]:
    try:
        packs.packs()
    except packs.BrokenPack as error:
        return error.problems
    return ()


def _missing() -> Iterator[str]:
    spoken = {packs.base_language(language) for pack in packs.packs().values() for language in pack.languages}
    for part in ("localization", "letters", "mails", "wording"):
        for language in sorted(spoken):
            if not (DIRECTORY / part / f"{language}.toml").is_file():
                yield f"notices/{part}/{language}.toml"
    for language in sorted(spoken - {"en"}):  # the language of the sources
        catalogue = Path(language) / "LC_MESSAGES" / "django.mo"
        if not any((Path(folder) / catalogue).is_file() for folder in settings.LOCALE_PATHS):
            yield f"locale/{catalogue}"
