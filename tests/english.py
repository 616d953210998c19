"""English lint for lines and commits that are new since `_BASE`: `python -m tests.english`.

It holds what a program can check of how the project is written: commit subjects are `area: verb …`, docstrings open
with a verb or a noun, retired words stay out of comments, strings and pages, and names are nouns or verbs.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

_BASE = "0c67e7edd23d989c836ae055bf4afe52f1e3663b"
"""The last commit before the lint. What is older is rewritten file by file."""

_SUBJECT = re.compile(r"(?:[\w./-]+ ?)+: [a-z`][^;]*")
_MAX_SUBJECT = 72  # characters
_OPENING = re.compile(r"(?:What|Who|Whoever|Whose|Those|Which|As|Of|Where)\b")
_BANNED = re.compile(
    r"\b(?:whoever|somebody|nobody|anew|is told|in the way of|lies|stands|by which|none of them is|one that"
    r"|mend(?:ed|s)?|as is|of its own)\b",
    re.IGNORECASE,
)
_PARTICIPLES = {"found", "told", "said", "kept", "taken", "each", "some", "rest", "most"}
_BOUNDS = ("MOST_", "LONGEST_", "LEAST_", "ENOUGH_")
_PAGES = (".md", ".html")
_EXEMPT = ("tests/english.py", "tests/config/test_english.py", "tests/corpus/")


def main() -> int:
    problems = [*subjects(), *lines()]
    print("\n".join(problems) or "English: nothing to change.")
    return bool(problems)


def subjects() -> Iterator[str]:
    """Name each commit subject since the base that is not `area: verb …` within 72 characters (rule 1)."""
    for subject in _git("log", "--no-merges", "--format=%s", f"{_BASE}..HEAD").splitlines():
        if not is_subject(subject):
            yield f"commit subject: {subject}"


def is_subject(subject: str) -> bool:
    """Whether a commit subject is `area: verb …` within 72 characters."""
    return len(subject) <= _MAX_SUBJECT and _SUBJECT.fullmatch(subject) is not None


def lines() -> Iterator[str]:
    """Name each added line that breaks rules 2 to 6."""
    for path, numbers in added().items():
        if path.startswith(_EXEMPT):
            continue
        check = python if path.endswith(".py") else page
        source = Path(path).read_text()
        yield from (f"{path}:{number}: {what}" for number, what in check(source) if number in numbers)


def added() -> dict[str, set[int]]:
    """Return the numbers of the added lines of each Python file and page."""
    numbers: dict[str, set[int]] = {}
    for line in _git(
        "diff", "-U0", "--find-renames=40%", "--diff-filter=AMR", _BASE, "--", "*.py", "*.md", "*.html"
    ).splitlines():
        if line.startswith("+++ "):
            current = numbers.setdefault(line[6:], set())
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            current.update(range(start, start + count))
    return numbers


def page(source: str) -> Iterator[tuple[int, str]]:
    """Yield each line of a page that has a banned word, with its number."""
    for number, line in enumerate(source.splitlines(), 1):
        yield from ((number, f"{word[0]!r} is a banned word") for word in _BANNED.finditer(line))


def python(source: str) -> Iterator[tuple[int, str]]:
    """Yield what breaks a rule in a module, with the number of its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from ((token.start[0] + number - 1, what) for number, what in page(token.string))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            if opening := _OPENING.match(docstring):
                yield node.body[0].lineno, f"a docstring opens with {opening[0]!r}"
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else getattr(node, "arg", None)
        if isinstance(name, str) and not isinstance(node, ast.keyword):
            if name.strip("_") in _PARTICIPLES:
                yield node.lineno, f"{name!r} names nothing: say what it is"
            if name.lstrip("_").startswith(_BOUNDS):
                yield node.lineno, f"{name!r} is a bound: MAX_… or MIN_…"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
