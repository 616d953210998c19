"""The project's documents, and the code in them.

Blocks fenced as `bash` or `python` are run. The blocks of a document run in order, and share their directory, exported
variables and functions. A `text` block right after such a block has the expected output, where `…` matches anything.
Other blocks (`sh`, `json`, …) are not run.
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
    """The expected output, or empty if the document does not show it."""


def blocks(document: Path) -> list[Block]:
    return [Block(*groups) for groups in _FENCE.findall(document.read_text())]


def text(name: str) -> str:
    return (CHECKOUT / name).read_text()


def section(document: str, heading: str) -> str:
    """Return the text below a heading, up to the next heading."""
    return re.split(r"^#+ ", text(document).split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_column(table: str) -> list[str]:
    """Return the code names in the first cells of a table's rows."""
    return [
        name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)
    ]


def start_shell(directory: Path, **variables: object) -> None:
    """Let the blocks of a document start in a directory, with these exported variables."""
    exports = [f"export {name}={shlex.quote(str(value))}\n" for name, value in variables.items()]
    _state(directory).write_text("".join(exports))


def run(block: Block, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in the shell of the blocks before, as if a reader had copied it there."""
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
    """Return a regular expression for the output that a document shows."""
    return ".*".join(map(re.escape, printed.strip().split("…")))
