from tests import english
from tests.cases import each_case


@each_case(
    "source",
    [
        '"""What a record says."""',
        'class Case:\n    """Those of one test."""',
        'def read() -> None:\n    """As the file has it."""',
        "# Whoever comes first wins.",
        "message = 'Nobody is told.'",
        "found = 1",
        "for each in ():\n    pass",
        "def read(kept: int) -> None: ...",
        "MOST_BYTES = 1",
        "_LONGEST_NAME: int = 1",
    ],
)
def test_a_line_that_breaks_a_rule_is_refused(source: str) -> None:
    assert list(english.python(source))


@each_case(
    "source",
    [
        '"""Rules for the words of the project."""',
        'def read() -> None:\n    """Read the file. What it says is kept."""',
        "MAX_BYTES = 1  # the table understands it",
        "print(each=1)",
    ],
)
def test_a_line_that_keeps_the_rules_passes(source: str) -> None:
    assert not list(english.python(source))


@each_case(
    ("subject", "is_allowed"),
    [
        ("notices: stop a same-named reason from hiding a factor's number", True),
        ("make run: check for a free port without binding it", True),
        ("What a newcomer stumbled over", False),
        ("custody: Lock families in one order", False),
        ("docs: explain the keys; fix the table", False),
        ("docs: " + "x" * 67, False),
    ],
)
def test_a_commit_subject_is_an_area_and_a_verb(subject: str, is_allowed: bool) -> None:
    assert english.is_subject(subject) is is_allowed
