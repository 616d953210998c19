"""Check for the installed fonts that letters may need, by fontconfig."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Final

_NEEDED: Final = {
    "fonts-dejavu-core": ("Latin, Greek and Cyrillic", "aßλж"),
    "fonts-noto-cjk": ("Chinese, Japanese and Korean", "決の한"),
    "fonts-symbola": ("emoji", "\N{MAN}\N{PERSON WITH FOLDED HANDS}"),
}
"""By Debian package: the scripts, and characters that other fonts do not all have."""

PACKAGES: Final = tuple(_NEEDED)


def missing() -> Iterator[tuple[str, str]]:
    """Yield the missing font packages, each with its scripts. Without `fc-list`, yield none."""
    program = shutil.which("fc-list")
    for package, (scripts, characters) in _NEEDED.items():
        if program and not all(_is_drawn(program, character) for character in characters):
            yield package, scripts


def _is_drawn(program: str, character: str) -> bool:
    listed = subprocess.run([program, f":charset={ord(character):x}", "family"], capture_output=True, check=False)  # noqa: S603
    return bool(listed.stdout.strip())
