"""The project's documents, and the code in them.

A block fenced as `bash` or `python` is run. The blocks of a document run in order, and share their directory, exported
variables and functions. A `text` block right after one is what it must print, where `…` matches anything. Other blocks
(`sh`, `json`, …) are only read.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent.parent
_FOLDERS = [CHECKOUT / "docs", CHECKOUT / "docs/adr", CHECKOUT / "docs/connectors", CHECKOUT / "docs/custody"]
README = CHECKOUT / "README.md"
DOCUMENTS = [README, *sorted(set(CHECKOUT.glob("*.md")) - {README})]
DOCUMENTS += [path for folder in _FOLDERS for path in sorted(folder.glob("*.md"))]

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$\n(?:\s*^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_SHELL = """
. {state}
{code}
{{ export -p; declare -f; printf 'cd %q\\n' "$PWD"; }} > {state}
"""


class Block(NamedTuple):
    language: str
    code: str
    printed: str
    """What the block must print, or nothing if the document does not show it."""


def blocks(document: Path) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(document.read_text())]


def text(name: str) -> str:
    return (CHECKOUT / name).read_text()


def section(document: str, heading: str) -> str:
    """The text below a heading, down to the next heading of its rank."""
    return re.split(r"^#+ ", text(document).split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(table: str) -> list[str]:
    """The code names in the first cells of a table's rows."""
    return [
        name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)
    ]


def start_shell(directory: Path, **variables: object) -> None:
    """Let the blocks of a document begin in a directory, with these exported variables."""
    exports = [f"export {name}={shlex.quote(str(value))}\n" for name, value in variables.items()]
    _state(directory).write_text("".join(exports))


def run(block: Block, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as a reader would who copies it into the shell of the blocks before."""
    state = shlex.quote(str(_state(directory)))
    shell = _SHELL.format(code=block.code, state=state)
    if block.language == "python":
        shell = f". {state}\n{sys.executable} -"
    return subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", shell],
        input=block.code if block.language == "python" else "",
        cwd=directory, capture_output=True, text=True,
    )  # fmt: skip


def _state(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.shell")


def as_pattern(printed: str) -> str:
    """A regular expression for what a document shows."""
    return ".*".join(map(re.escape, printed.strip().split("…")))
