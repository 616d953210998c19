"""Which of the fonts that letters may need are installed, by what fontconfig finds."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Final

_NEEDED: Final = {
    "fonts-dejavu-core": ("Latin, Greek and Cyrillic", "aßλж"),
    "fonts-noto-cjk": ("Chinese, Japanese and Korean", "決の한"),
    "fonts-symbola": ("emoji", "\N{MAN}\N{PERSON WITH FOLDED HANDS}"),
}
"""By the package that has them on Debian; each with characters that other fonts do not all have."""

PACKAGES: Final = tuple(_NEEDED)


def missing() -> Iterator[tuple[str, str]]:
    """The packages of fonts that are missing, each with what it draws; none where nobody can tell."""
    program = shutil.which("fc-list")
    for package, (what, characters) in _NEEDED.items():
        if program and not all(_is_drawn(program, character) for character in characters):
            yield package, what


def _is_drawn(program: str, character: str) -> bool:
    listed = subprocess.run([program, f":charset={ord(character):x}", "family"], capture_output=True, check=False)  # noqa: S603
    return bool(listed.stdout.strip())
