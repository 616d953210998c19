"""The lint that refuses regular expressions of more than linear time."""

import re
import time

import pytest

from tests.patterns import is_superlinear, problems

REFUSED = [
    ("fullmatch", r"\s*(?:null|nil|[-?.*#x]*)\s*"),
    ("fullmatch", r"\s*[A-Z]{1,16}\s*\|\s*([^|]*\S)\s*"),
    ("fullmatch", r"(?s).*a.*b"),
    ("fullmatch", r"(?i)[a-c]*[A-Z]*!"),
    ("match", r"\d+\d+x"),
    ("match", r"(a+)+b"),
    ("match", r"(?:a*)*b"),
    ("match", r"(?:a|a)*b"),
    ("match", r"(?:ab|a|b)*c"),
    ("match", r"[a-z]*(?:-?[a-z])*!"),
    ("search", r"\s+$"),
    ("search", r"\w+@x"),
    ("search", r"[ ]*+x"),
    ("search", r"(?<!-)\w+@x"),
    ("findall", r"x(?:x*c)?"),
    ("sub", r"\s*,"),
]
ACCEPTED = [
    ("fullmatch", r"(?i)(?:null|nil|[-?.*#x]*)"),
    ("fullmatch", r"[a-z]+(_[a-z]+)+"),
    ("fullmatch", r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*"),
    ("match", r"\s*x"),
    ("match", r'"(?:[^"\\]|\\.)*+"'),
    ("match", r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|(?!))*+'),
    ("search", r"^\s*x"),
    ("search", r"(?<![^\W_])[^\W_]+@x"),
    ("search", r"\b\w+@x"),
    ("search", r"a{1,300}b{1,30}!"),
    ("findall", r"\s+|\S+"),
    ("findall", r"\d+(?:[.,]\d+)*(?:e\d+)?"),
    ("findall", r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?"),
    ("findall", r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"),
]


@pytest.mark.parametrize(("method", "pattern"), REFUSED)
def test_a_pattern_of_quadratic_time_is_refused(method, pattern):
    assert is_superlinear(pattern, 0, method)


@pytest.mark.parametrize(("method", "pattern"), ACCEPTED)
def test_a_pattern_of_linear_time_is_accepted(method, pattern):
    assert not is_superlinear(pattern, 0, method)


def test_measured_times_confirm_an_example():
    """The refused pattern takes at least eight times as long for four times the text, the accepted one does not."""

    def seconds(pattern: str, length: int) -> float:
        started = time.thread_time()
        re.fullmatch(pattern, " " * length + "!")
        return time.thread_time() - started

    refused = REFUSED[0][1]
    assert min(seconds(refused, 8000) for _ in range(3)) > 8 * min(seconds(refused, 2000) for _ in range(3))
    assert seconds(r"\s*(?:null|nil)", 32_000) < seconds(refused, 8000)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (r'P = re.compile(r"\s*,")' + "\nP.match(text)", []),
        (r'P = re.compile(r"\s*,")' + "\nP.sub('', text)", [1]),
        (r'P = re.compile(r"\s*,")', [1]),
        (r'SPACE = r"\s"' + "\n" + r're.search(rf"{SPACE}*,", text)', [2]),
        (r'SPACE, END = r"\s", ","' + "\n" + r"re.search(SPACE + '*' + END, text)", [2]),
        (r're.search(rf"{re.escape(name)}\s", text)', []),
        (r're.search(rb"%s*,"' + r' % rb"\s", text)', [1]),
        (r're.search(r"[a-z]*A", text, re.IGNORECASE)', [1]),
        ("re.fullmatch(pattern, text)", [1]),
        ("# linear: callers pass one character\nre.fullmatch(pattern, text)", []),
        ("re.fullmatch(pattern, text)  # linear: one character", []),
    ],
)
def test_patterns_are_read_from_the_source(source, lines):
    assert [line for line, _ in problems(source)] == lines
