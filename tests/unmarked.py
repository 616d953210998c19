"""Visible text that neither a `translate` tag nor gettext marks, so that the message catalogue lacks it."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, Token, TokenType

HIDDEN = ("code", "kbd", "pre", "script", "style")
"""Elements whose text is no language."""
VISIBLE_ATTRIBUTES = ("alt", "aria-description", "aria-label", "label", "placeholder", "title")
LABELS = ("label", "help_text", "empty_label", "verbose_name", "verbose_name_plural")
"""Arguments of forms and of the admin that a page shows."""
SHOWN = ("Bar", "Source")
"""Classes whose first argument is a label."""
ASSIGNED = re.compile(r"^\(?(?:nothing|one|many|_?labels|_[a-z_]+_labels)\b", re.IGNORECASE)
"""Variables whose values a page shows."""
NAMES = re.compile(r"Decision-Record Service|\bUTC\b|Amazon Web Services|Google Cloud|\bAzure\b")
MARKS = ("_", "gettext", "gettext_lazy", "ngettext")
UNSHOWN = (*MARKS, "unscoped")
"""Functions whose texts are marked, or are for developers."""
TECHNICAL = re.compile(
    r"\bSELECT\b|\bUNION\b|\bfilename=|^Lax$|^no(?:index|-store)|^private, |^back office$|^signed in$"
)
"""Texts for databases, browsers and columns."""
SKIPPED = ("comment", "blocktranslate", "verbatim")
"""Tags whose content is no text of the page, or is marked."""
_WITHOUT_WORDS = ("translate", "blocktranslate", "now", "if", "elif", "extends", "load")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(r"\S*/\S*")
_WORDED_FILTER = re.compile(r"\|pluralize\b|\|(?:default|default_if_none|yesno|add):\"[^\"]*[A-Za-z]{2}[^\"]*\"")
_WORDED_ARGUMENT = re.compile(r"[\s=]\"(?:[A-Z][a-z]|[a-z]+ [a-z]+)[^\"]*\"")
_VALUE = " "  # replaces a tag or variable of the template
_MARKUP = re.compile(r"<[^>]*>|\{\w*\}")
_PROSE = re.compile(r"[^\W\d_]{2,}[,:;]?\s+[^\W\d_]+|(?:^|\s)[A-Z][a-z]+\b(?!-)|^\s[^\W\d_]{2,}\s$")


def in_template(source: str, *, is_html: bool) -> list[str]:
    """Return the visible texts of a template outside `translate` and `blocktranslate`."""
    tokens = list(_outside(Lexer(source).tokenize()))
    worded = [token.contents for token in tokens if token.token_type != TokenType.TEXT and _has_words(token)]
    text = "".join(token.contents if token.token_type == TokenType.TEXT else _VALUE for token in tokens)
    if not is_html:
        return [*worded, *(line.strip() for line in text.splitlines() if _is_text(line))]
    page = _Page()
    page.feed(text)
    page.close()
    return [*worded, *(" ".join(text.split()) for text in page.texts if _is_text(text))]


def in_code(source: str) -> list[str]:
    """Return the labels and the other words in Python that are plain strings, for a module of pages."""
    tree = ast.parse(source)
    return list(dict.fromkeys([*_labels(tree), *(ast.unparse(text) for text in _prose(tree))]))


def _labels(tree: ast.AST) -> list[str]:
    """Return the values that a page shows as labels, of a single word too."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    values = [call.args[0] for call in calls if call.args and ast.unparse(call.func) in SHOWN]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ASSIGNED.match(ast.unparse(node.targets[0])):
            values += getattr(node.value, "values", None) or getattr(node.value, "elts", [node.value])
    values += [
        keyword.value
        for call in calls
        for keyword in call.keywords
        if keyword.arg in LABELS or (keyword.arg == "description" and ast.unparse(call.func) == "admin.display")
    ]
    return [ast.unparse(value) for value in values if _is_plain(value)]


def _prose(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the strings with several words, or with a capitalized one, that are neither marked nor documentation."""
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, ast.AST) or name in ("annotation", "returns", "slice") or _is_unshown(part):
                continue
            if text := _constant(part):
                if _PROSE.search(_MARKUP.sub("", NAMES.sub("", text))) and not TECHNICAL.search(text):
                    yield part  # type: ignore[misc]
            elif not isinstance(part, ast.JoinedStr):
                yield from _prose(part)


def _is_unshown(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        function = ast.unparse(node.func)
        return function.split(".")[-1] in UNSHOWN or function.startswith("log.")
    is_export = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    is_documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_export or is_documentation or isinstance(node, ast.Compare)


def _constant(node: ast.AST) -> str:
    """Return a string, or the constant parts of a formatted one."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else " " for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_plain(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_plain(value.body) or _is_plain(value.orelse)
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) and _is_text(str(part.value)) for part in value.values)
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and _is_text(value.value)


def _outside(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens that no comment and no `blocktranslate` encloses."""
    end = None
    for token in tokens:
        tag = token.contents.split()[0] if token.token_type == TokenType.BLOCK else None
        if end:
            end = None if tag == end else end
        elif tag in SKIPPED:
            end = f"end{tag}"
        elif token.token_type != TokenType.COMMENT:
            yield token


def _has_words(token: Token) -> bool:
    """Whether a tag or variable carries words, for example as the default of a filter."""
    if _WORDED_FILTER.search(token.contents):
        return True
    is_tag = token.token_type == TokenType.BLOCK and token.contents.split()[0] not in _WITHOUT_WORDS
    return is_tag and bool(_WORDED_ARGUMENT.search(token.contents))


def _is_text(text: str) -> bool:
    return bool(_WORD.search(_ADDRESS.sub(" ", NAMES.sub(" ", text))))


class _Page(HTMLParser):
    """The visible texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in HIDDEN
        self.texts += [value for name, value in attrs if name in VISIBLE_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)
