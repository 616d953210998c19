"""A lint against regular expressions of the product that take more than linear time on some text.

Each literal pattern becomes an automaton over the characters that it distinguishes. If a word can be repeated while
the automaton is in two places at once, and is then refused, matching takes at least quadratic time (N. Weideman et al.,
"Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers", CIAA 2016). A search starts at every
character, so it has a loop in front. pydantic's patterns are not checked: their engine takes linear time.

A pattern with a comment `# linear: reason` on its line or above is accepted.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre
from re import _parser as parser
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
APPS = ("config", "accounts", "custody", "decisions", "notices", "connectors", "retention")
ACCEPTED = "# linear: "
SEARCHING = ("search", "sub", "subn", "split", "findall", "finditer")
METHODS = (*SEARCHING, "match", "fullmatch")
MAX_COPIES = 2  # of a bounded repeat, whose cost is bounded too
SAMPLE = frozenset(map(chr, range(128))) | frozenset("\xa0\xb2\xc9\xe9\u0301\u0416\u0661\u200b\u2028\u2068\u3000\u4e00")
CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
WORDS = frozenset(c for c in SAMPLE if re.match(r"\w", c))
Chars = frozenset[str]
State = tuple[int, str]
"""A place, and the character that it consumed."""


class Guard(NamedTuple):
    """A condition on the characters before and after a place, with "" for an end of the text."""

    before: Chars | None = None
    after: Chars | None = None
    is_boundary: bool | None = None

    def allows(self, before: str, after: str) -> bool:
        if self.is_boundary is not None and ((before in WORDS) != (after in WORDS)) != self.is_boundary:
            return False
        return (self.before is None or before in self.before) and (self.after is None or after in self.after)


Step = tuple[int, tuple[Guard, ...]]


class Automaton:
    """The states of a pattern: each consumes a character of its set, and leads to other states."""

    def __init__(self, pattern: str, flags: int = 0, method: str = "search") -> None:
        tree = parser.parse(pattern, flags)
        self._flags = tree.state.flags
        literals = {chr(code) for code in _literals(tree)}
        self.alphabet = SAMPLE | literals | {c.swapcase() for c in literals if len(c.swapcase()) == 1}
        self.chars: list[Chars] = []
        self._links: list[list[tuple[int, Guard | None]]] = []
        self._after: dict[int, int] = {}
        self.end = self._node()
        self.start = self._sequence(list(tree), self.end)
        if method in SEARCHING:
            loop = self._node()
            self._consume(loop, self.alphabet, loop)
            self._links[loop].append((self.start, None))
            self.start = loop
        self.fails_at_end = method == "fullmatch"
        self.steps = {node: list(self._closure(node, ())) for node in {self.start, *self._after.values()}}

    def follow(self, place: int) -> list[Step]:
        """Return the places after that of a character with their guards: a place twice if two ways lead there."""
        return self.steps[self._after[place]]

    def _node(self) -> int:
        self.chars.append(frozenset())
        self._links.append([])
        return len(self.chars) - 1

    def _consume(self, node: int, chars: Chars, following: int) -> None:
        place = self._node()
        self.chars[place] = chars
        self._after[place] = following
        self._links[node].append((place, None))

    def _closure(self, node: int, guards: tuple[Guard, ...], path: tuple[int, ...] = ()) -> Iterator[Step]:
        if node in self._after or node == self.end:
            yield node, guards
            return
        for target, guard in self._links[node]:
            if path.count(target) < MAX_COPIES:
                yield from self._closure(target, (*guards, guard) if guard else guards, (*path, target))

    def _sequence(self, items: list[Any], following: int) -> int:
        for item in reversed(items):
            following = self._item(*item, following)
        return following

    def _item(self, op: Any, value: Any, following: int) -> int:
        """Add an item of a pattern before another node, and return the item's node."""
        node = self._node()
        chars = self._set(op, value)
        if chars is not None:
            self._consume(node, chars, following)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self._repeat(*value, following, is_possessive=op is sre.POSSESSIVE_REPEAT)
        elif op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            return self._sequence(list(value[-1] if op is sre.SUBPATTERN else value), following)
        elif op is sre.BRANCH:
            self._links[node] = [(self._sequence(list(branch), following), None) for branch in value[1]]
        elif op is not sre.ASSERT_NOT or len(value[1]):  # `(?!)` lets nothing through
            self._links[node].append((following, self._guard(op, value)))
        return node

    def _repeat(self, lower: int, upper: Any, body: Any, following: int, *, is_possessive: bool) -> int:
        if upper is sre.MAXREPEAT:
            loop = self._node()
            inside = self._sequence(list(body), loop)
            first = {c for place, _ in self._closure(inside, ()) for c in self.chars[place]}
            leaving = Guard(after=(self.alphabet | {""}) - first) if is_possessive else None
            self._links[loop] = [(inside, None), (following, leaving)]
            following = loop
        else:
            after = following
            for _ in range(min(upper - lower, MAX_COPIES)):
                option = self._node()
                self._links[option] = [(self._sequence(list(body), following), None), (after, None)]
                following = option
        for _ in range(min(lower, MAX_COPIES)):
            following = self._sequence(list(body), following)
        return following

    def _set(self, op: Any, value: Any) -> Chars | None:
        """Return the characters that an item of one character matches, or None for other items."""
        if op is sre.ANY:
            chars = self.alphabet if self._flags & re.DOTALL else self.alphabet - {"\n"}
        elif op in (sre.LITERAL, sre.NOT_LITERAL):
            chars = frozenset(chr(value))
        elif op is sre.CATEGORY:
            chars = frozenset(c for c in self.alphabet if re.match(CATEGORIES[value], c, self._flags & re.ASCII))
        elif op is sre.RANGE:
            chars = frozenset(c for c in self.alphabet if value[0] <= ord(c) <= value[1])
        elif op is sre.IN:
            chars = frozenset().union(*(self._set(*part) or () for part in value if part[0] is not sre.NEGATE))
        else:
            return None
        if self._flags & re.IGNORECASE:
            chars |= {c.swapcase() for c in chars} & self.alphabet
        is_negated = op is sre.NOT_LITERAL or (op is sre.IN and value[0][0] is sre.NEGATE)
        return self.alphabet - chars if is_negated else chars

    def _guard(self, op: Any, value: Any) -> Guard | None:
        """Return the condition of an assertion about one character, None for others: those may hold."""
        if op is sre.AT and value in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            return Guard(is_boundary=value is sre.AT_BOUNDARY)
        if op is sre.AT and not self._flags & re.MULTILINE:
            is_start = value in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
            return Guard(before=frozenset({""})) if is_start else Guard(after=frozenset({"", "\n"}))
        if op in (sre.ASSERT, sre.ASSERT_NOT) and len(value[1]) == 1:
            chars = self._set(*value[1][0])
            if chars is not None:
                ends = frozenset() if op is sre.ASSERT else frozenset({""})
                chars = chars if op is sre.ASSERT else self.alphabet - chars
                return Guard(before=chars | ends) if value[0] < 0 else Guard(after=chars | ends)
        return None


def _literals(tree: Any) -> Iterator[int]:
    """Yield the codes of the characters that a pattern names."""
    for item in tree:
        if isinstance(item, tuple) and len(item) == 2 and item[0] in (sre.LITERAL, sre.NOT_LITERAL):
            yield item[1]
        elif isinstance(item, tuple) and len(item) == 2 and item[0] is sre.RANGE:
            yield from item[1]
        elif isinstance(item, tuple | list | parser.SubPattern):
            yield from _literals(item)


def is_superlinear(pattern: str, flags: int = 0, method: str = "search") -> bool:
    """Whether some text makes a method of a pattern take the square of the text's length, or more."""
    automaton = Automaton(pattern, flags, method)
    chars = _classes(automaton)
    follow = {
        (place, c): [
            (target, d)
            for target, guards in automaton.follow(place)
            if target != automaton.end
            for d in chars
            if d in automaton.chars[target] and all(guard.allows(c, d) for guard in guards)
        ]
        for place in automaton._after
        for c in chars
        if c in automaton.chars[place]
    }
    reachable = {state: _reach(state, follow) for state in follow}
    loops = sorted(state for state in follow if state in reachable[state])
    for state in loops:
        if len(set(follow[state])) < len(follow[state]) and any(
            follow[state].count(target) > 1 and state in reachable[target] | {target} for target in follow[state]
        ):
            return True
    matched = {state: _matches(automaton, state, chars) for state in follow}
    return any(
        first[0] != second[0] and first[1] == second[1] and _both(first, second, follow, matched)
        for first in loops
        for second in loops
        if second in reachable[first] and len(matched[second]) <= len(chars)
    )


def _classes(automaton: Automaton) -> list[str]:
    """Return one character of each group that no state and no guard distinguishes."""
    guards = {guard for steps in automaton.steps.values() for _, guarded in steps for guard in guarded}
    sets = [*automaton.chars, *(part for guard in guards for part in guard[:2] if part is not None), WORDS]
    return sorted({tuple(c in chars for chars in sets): c for c in sorted(automaton.alphabet)}.values())


def _reach(state: State, follow: dict[State, list[State]]) -> set[State]:
    states: set[State] = set()
    waiting = [state]
    while waiting:
        for target in follow[waiting.pop()]:
            if target not in states:
                states.add(target)
                waiting.append(target)
    return states


def _matches(automaton: Automaton, state: State, chars: list[str]) -> set[str]:
    """Return the characters before which the pattern has matched at a state, with "" for the end of the text."""
    if automaton.fails_at_end:
        return set()
    ends = [guards for place, guards in automaton.follow(state[0]) if place == automaton.end]
    return {c for c in (*chars, "") if any(all(guard.allows(state[1], c) for guard in guards) for guards in ends)}


def _both(first: State, second: State, follow: dict[State, list[State]], matched: dict[State, set[str]]) -> bool:
    """Whether one word leads from the first state to itself and to the second, and from the second to itself without
    passing a place where the pattern has matched: what a match has consumed is not read again."""
    goal = (first[0], second[0], second[0], first[1])
    seen = {(first[0], first[0], second[0], first[1])}
    waiting = list(seen)
    while waiting:
        *places, c = waiting.pop()
        options = [follow[place, c] for place in places]
        for one, d in options[0]:
            for other in (place for place, e in options[1] if e == d):
                for third in (place for place, e in options[2] if e == d and e not in matched[places[2], c]):
                    target = (one, other, third, d)
                    if target == goal:
                        return True
                    if target not in seen:
                        seen.add(target)
                        waiting.append(target)
    return False


# ── reading the product ──


class Literals:
    """The texts of a module's expressions, as far as its source has them. Values of run time become `x`."""

    def __init__(self, tree: ast.Module) -> None:
        self.values: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(target, ast.Name):
                    self.values[target.id] = node.value
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    names = (item.id for item in target.elts if isinstance(item, ast.Name))
                    self.values.update(zip(names, node.value.elts, strict=False))

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """Return the text of an expression, or None if the source does not have it."""
        if isinstance(node, ast.Constant):
            return node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
        if depth > 20:
            return None
        if isinstance(node, ast.Name):
            value = self.values.get(node.id)
            return self.text(value, depth + 1) if value is not None else None
        if isinstance(node, ast.Attribute) and node.attr == "pattern":
            return self.text(node.value, depth + 1)
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.FormattedValue) else part for part in node.values)
            return "".join(self._part(part, depth) for part in parts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._part(node.left, depth) + self._part(node.right, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return re.sub("%[bs]", "%s", self._part(node.left, depth)) % tuple(
                self._part(part, depth) for part in parts
            )
        if isinstance(node, ast.Call) and _name(node.func) == "re.compile":
            return self.text(node.args[0], depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
            parts = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List) else []
            return self._part(node.func.value, depth).join(self._part(part, depth) for part in parts) or None
        return None

    def _part(self, node: ast.expr, depth: int) -> str:
        text = self.text(node, depth + 1)
        return "x" if text is None else text


def _name(node: ast.expr) -> str:
    return f"{_name(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def problems(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module whose patterns may take more than linear time, with what is wrong."""
    tree, lines = ast.parse(source), source.splitlines()
    literals = Literals(tree)
    owners = {id(value): name for name, value in literals.values.items()}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        method = _name(call.func).removeprefix("re.")
        if not _name(call.func).startswith("re.") or method not in (*METHODS, "compile") or not call.args:
            continue
        if any(ACCEPTED in line for line in lines[max(0, call.lineno - 2) : call.end_lineno]):
            continue
        pattern = literals.text(call.args[0])
        if pattern is None:
            yield (
                call.lineno,
                f"this pattern is composed elsewhere: say after `{ACCEPTED}` why it takes linear time",
            )
            continue
        used = re.findall(rf"\b{owners.get(id(call), '-')}\.({'|'.join(METHODS)})\b", source)
        flags = 0
        for flag in (node for arg in (*call.args[1:], *(k.value for k in call.keywords)) for node in ast.walk(arg)):
            flags |= getattr(re, flag.attr, 0) if isinstance(flag, ast.Attribute) and flag.attr.isupper() else 0
        for use in {method} if method != "compile" else set(used) or {"search", "fullmatch"}:
            if is_superlinear(pattern, flags, use):
                yield call.lineno, f"{use} takes at least the square of a text's length: bound or anchor {pattern!r}"


def main() -> int:
    count = 0
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts):
        for line, problem in problems(path.read_text("utf-8")):
            count += 1
            print(f"{path.relative_to(ROOT)}:{line}: {problem}")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
