"""English lint of the whole tree, and of commit subjects since `_BASE`: `python -m tests.english`.

It holds what a program can check of how the project is written: commit subjects are `area: verb …`, docstrings open
with a verb or a noun, retired words stay out of comments, strings and pages, and names are nouns or verbs.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_BASE = "0c67e7edd23d989c836ae055bf4afe52f1e3663b"
"""The last commit before the lint. Subjects of older commits stay as they are."""

_SUBJECT = re.compile(r"(?:[\w./-]+ ?)+: [a-z`][^;]*")
_MAX_SUBJECT = 72  # characters
_OPENING = re.compile(r"(?:What|Who|Whoever|Whose|Those|Which|As|Of|Where)\b")
_BANNED = re.compile(
    r"\b(?:whoever|somebody|nobody|anew|is told|in the way of|lies|stands|by which|none of them is|(?<!the )one that"
    r"|mend(?:ed|s)?|as is|of its own)\b",
    re.IGNORECASE,
)
_PARTICIPLES = {"found", "told", "said", "kept", "taken", "each", "some", "rest", "most"}
_BOUNDS = ("MOST_", "LONGEST_", "LEAST_", "ENOUGH_")
_PAGES = (".md", ".html")
_EXEMPT = ("tests/english.py", "tests/config/test_english.py", "tests/corpus/", "docs/packs/")  # they quote
_DELETED_LATER = (
    *(f"notices/{room}/" for room in ("localization", "sensitive", "warnings", "wording")),
    *(f"notices/{room}.py" for room in ("checklist", "fitting", "kinds", "previews")),
    *(f"notices/{room}.py" for room in ("readability", "record_paths", "shapes")),
    "notices/packs/automation.py",
)
"""Rooms that guess what a field means. Declared mappings replace them, and empty this list."""
_APPS = ("accounts", "config", "connectors", "custody", "decisions", "notices", "retention")
_ROOMS = {
    "admin", "api", "apps", "checks", "demo", "erasing", "errors", "forms", "middleware", "models", "personal_data",
    "presenters", "record_types", "schemas", "selectors", "settings", "start_page", "tasks", "urls", "views",
}  # fmt: skip
"""Modules that every app may have. Others are named once in the tree."""
_PARALLEL = re.compile(
    r"/(?:migrations|api|admin|services|models|urls|commands|templatetags|clouds(?:/\w+)?|kinds/\w+)/\w+\.py$"
)
"""Folders whose modules are named after a resource or a role, the same in each."""


def main() -> int:
    problems = [*subjects(), *modules(), *lines()]
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


def modules() -> Iterator[str]:
    """Name each module whose name another module has too."""
    paths = defaultdict(list)
    for path in _git("ls-files", *(f"{app}/*.py" for app in _APPS)).splitlines():
        if not _PARALLEL.search(path) and not path.startswith(_DELETED_LATER):
            paths[Path(path).stem].append(path)
    for name in paths.keys() - _ROOMS - {"__init__"}:
        if len(paths[name]) > 1:
            yield f"{', '.join(paths[name])}: {name!r} names several modules"


def lines() -> Iterator[str]:
    """Name each line of the tree that breaks rules 2 to 6."""
    for path in _git("ls-files", "*.py", "*.md", "*.html").splitlines():
        if not path.startswith(_EXEMPT + _DELETED_LATER) and "/migrations/" not in path:
            check = python if path.endswith(".py") else page
            yield from (f"{path}:{number}: {what}" for number, what in check(Path(path).read_text()))


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
