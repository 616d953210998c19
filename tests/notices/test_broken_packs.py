"""A pack with a mistake is refused with its file and line. A pack without one needs no Python."""

import shutil
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from notices import checks
from notices.packs import BrokenPack, load, load_all
from notices.packs.conditions import InvalidCondition, parse
from tests.cases import each_case
from tests.docs.documents import CHECKOUT

SHIPPED = CHECKOUT / "notices" / "packs"


@pytest.fixture
def credit(tmp_path: Path) -> Path:
    """Copy the credit pack, which has elements, clocks, locked texts, sources and forbidden phrases."""
    return Path(shutil.copytree(SHIPPED / "us_ecoa_fcra", tmp_path / "us_ecoa_fcra"))


def change(file: Path, old: str, new: str) -> int:
    """Replace the first occurrence, and return its line."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return text[: text.index(old)].count("\n") + 1


def line_of(file: Path, words: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if words in line)


MISTAKES: dict[str, tuple[str, str, str, str]] = {
    # name: (file, old, new, message)
    "an unknown status": ("pack.toml", 'legal_status = "in_force"', 'legal_status = "valid"', "'in_force', 'enacted'"),
    "a version of another form": ("pack.toml", 'version = "2026.6"', 'version = "1"', "pattern"),
    "a date that is a text": ("pack.toml", "effective_from = 2022-01-01", 'effective_from = "2022-01-01"', "date"),
    "a number that is a text": ("pack.toml", "retention_days = 762", 'retention_days = "762"', "integer"),
    "an unknown key": ("pack.toml", 'human_review = "not_granted"', 'human_revue = "not_granted"', "not permitted"),
    "a floor of an unknown source": ("pack.toml", '"reg_b_12"', '"reg_z"', "no source 'reg_z'"),
    "an unknown field": ("pack.toml", 'where = "main_factors"', 'where = "mian_factors"', "decision_summary"),
    "an unknown authority": ("pack.toml", 'authority = "rule"', 'authority = "law"', "statute"),
    "an unknown check": ("pack.toml", 'check = "cited"', 'check = "quoted"', "nonempty"),
    "unreadable words": ("pack.toml", 'applies = "if record', 'applies = "when record', "neither 'always'"),
    "a value without quotes": ("pack.toml", 'applies = "if record ', 'applies = "if record x is y and record ', "JSON"),
    "an unknown source": ("pack.toml", 'source = "reg_b_9"', 'source = "reg_b_8"', "no source 'reg_b_8'"),
    "an unknown clock": ("pack.toml", 'clock = "counteroffer"', 'clock = "counter"', "no clock 'counter'"),
    "an unknown locked text": ("pack.toml", 'locked = "ecoa_notice"', 'locked = "ecoa"', "no locked 'ecoa'"),
    "a caution of an unknown source": ("pack.toml", 'source = "co_1704"', 'source = "co_17"', "no source 'co_17'"),
    "choices for an unknown text": (
        "pack.toml",
        "[[choices.agency_name_and",
        "[[choices.agency_nmae_and",
        "agency_nmae",
    ),
    "an address of an unknown name": (
        "pack.toml",
        'report_agency_address = "report_agency_name"',
        'report_agency_address = "agency"',
        "no text of this pack has the placeholder {agency}",
    ),
    "an address that is none": ("pack.toml", 'url = "https://github', 'url = "github', "pattern"),
    "an unknown placeholder": ("text.en.toml", "{creditor_name}, ", "{creditor_nmae}, ", "{creditor_nmae}"),
    "a placeholder not used": ("text.en.toml", "{agency_name_and_address}", "the FTC", "{agency_name_and_address}"),
    "a setting outside a locked text": (
        "text.en.toml",
        "Write to {contact}",
        "Write to {creditor_name}",
        "not declared",
    ),
    "a lonely brace": ("text.en.toml", "Write to {contact}", "Write to {contact", "brace"),
    "an empty text": ("text.en.toml", 'title = "Our decision about your credit"', 'title = ""', "at least 1"),
    "a text that is a number": ("text.en.toml", 'deadline_note = ""', "deadline_note = 1", "string"),
    "a label of nothing": ("text.en.toml", 'creditor = "Gives', 'creditors = "Gives', "'creditors'"),
    "no phrases": ("text.en.toml", 'no_empty_reasons = ["internal', 'no_empty = ["internal', "'no_empty'"),
    "a locale of no region": ("pack.toml", 'en = "en_US"', 'en = "en_XX"', "no region's way of writing 'en'"),
    "a locale of another language": ("pack.toml", 'en = "en_US"', 'en = "de_DE"', "no region's way of writing 'en'"),
    "a locale of a language it has not": ("pack.toml", 'en = "en_US"', 'es = "es_US"', "the pack has no language 'es'"),
    "a fact for no text": (
        "pack.toml",
        "report_agency_name = [",
        "agency = [",
        "no text of this pack has the placeholder",
    ),
    "no syntax": ("text.en.toml", 'title = "Our', "title = Our", "is no TOML"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(credit: Path, what: str):
    file, old, new, message = MISTAKES[what]
    line = change(credit / file, old, new)
    with pytest.raises(BrokenPack) as broken:
        load(credit)
    named = [one for one in broken.value.problems if message in one]
    assert named, broken.value.problems
    places = {one.split(": ")[0].rsplit(":", 1)[0] for one in named}
    assert places == {f"us_ecoa_fcra/{file}"}
    assert line in {int(one.split(": ")[0].rsplit(":", 1)[1]) for one in named}


@pytest.mark.parametrize(
    ("removed", "named"),
    [
        ('where = "rights"\n', "where: Field required"),
        ('locked = "creditor"\n', "check 'contains_locked_text' needs 'locked'"),
        ("value = 4\n", "check 'max_items' needs 'value'"),
        ("days = 90\n", "needs exactly one of hours, days, business_days, months"),
    ],
)
def test_a_missing_key_is_named_at_its_table(credit: Path, removed: str, named: str):
    line = change(credit / "pack.toml", removed, "")
    text = (credit / "pack.toml").read_text().splitlines()
    table = max(number for number, words in enumerate(text, 1) if words.startswith("[[") and number < line)
    with pytest.raises(BrokenPack) as broken:
        load(credit)
    assert [one for one in broken.value.problems if one.startswith(f"us_ecoa_fcra/pack.toml:{table}: ")]
    assert named in str(broken.value)


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ("days = 90\nhours = 3\n", "needs exactly one of hours"),
        ("days = -1\n", "greater than or equal to 0"),
        ("days = 3661\n", "less than or equal to 3660"),
        ("business_days = 9\n", "business_days and the calendar of their public holidays go together"),
        ('days = 90\ncalendar = "US"\n', "business_days and the calendar of their public holidays go together"),
        ('business_days = 9\ncalendar = "US-ZZ"\n', "there is no calendar 'US-ZZ' of public holidays"),
        ('business_days = 9\ncalendar = "Texas"\n', "pattern"),
        ('days = 90\nwhat = "reply"\n', "'notice', 'answer' or 'acknowledgement'"),
        ('days = 90\nwhat = "answer"\n', "an answer is due after 'request_received'"),
    ],
)
def test_a_clock_that_cannot_run_is_named_at_its_line(credit: Path, added: str, named: str):
    line = change(credit / "pack.toml", "days = 90\n", added)
    refused_near(line, credit, named)


@pytest.mark.parametrize(
    ("applies", "named"),
    [
        ("on_request", "one of an 'answer' or 'acknowledgement'"),
        ("if notice human_review_available", "can depend on the record only"),
    ],
)
def test_a_clock_depends_on_the_record_alone(credit: Path, applies: str, named: str):
    clock = 'id = "counteroffer"\napplies = "if record outcome.counteroffer_not_accepted"\n'
    line = change(credit / "pack.toml", clock, f'id = "counteroffer"\napplies = "{applies}"\n')
    refused_near(line, credit, named)


def refused_near(line: int, directory: Path, named: str) -> None:
    """Assert that the pack is refused with these words at the table or key around a line of pack.toml."""
    with pytest.raises(BrokenPack) as broken:
        load(directory)
    lines = [int(one.split(":")[1]) for one in broken.value.problems if named in one]
    assert lines, broken.value.problems
    assert all(line - 5 <= number <= line + 1 for number in lines), (line, broken.value.problems)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("gdpr_22", 'applies = "on_request"\n', ""),
        (
            "us_co_admt",
            'where = "deadline_note"\napplies = \'if ',
            'where = "deadline_note"\napplies = \'on_request if ',
        ),
    ],
)
def test_an_answer_clock_measures_only_elements_on_request(tmp_path: Path, name: str, old: str, new: str):
    directory = Path(shutil.copytree(SHIPPED / name, tmp_path / name))
    change(directory / "pack.toml", old, new)
    line = line_of(directory / "pack.toml", 'clock = "')
    with pytest.raises(BrokenPack, match=rf"{name}/pack\.toml:{line}: .*'on_request' goes with the clock of an answer"):
        load(directory)


def test_a_retention_floor_names_its_source(credit: Path):
    change(credit / "pack.toml", 'retention_source = "reg_b_12"\n', "")
    line = line_of(credit / "pack.toml", "retention_days")
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{line}: .* go together"):
        load(credit)


@pytest.mark.parametrize("reading", ["unconfirmed", "own"])
def test_an_unread_source_cannot_have_the_authority_of_law(credit: Path, reading: str):
    change(credit / "pack.toml", 'reading = "copy"', f'reading = "{reading}"')
    line = line_of(credit / "pack.toml", 'authority = "rule"')
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{line}: .*'rule' needs a source that was read as law"):
        load(credit)


def test_arguments_that_a_check_does_not_take_are_refused(credit: Path):
    change(credit / "pack.toml", 'check = "cited"\n', 'check = "cited"\nvalue = 2\n')
    with pytest.raises(BrokenPack, match="check 'cited' takes no 'value'"):
        load(credit)


@pytest.mark.parametrize("check", ["is_true", "readers_language"])
def test_a_check_that_cannot_be_made_on_its_field_is_refused(tmp_path: Path, check: str):
    policy = Path(shutil.copytree(SHIPPED / "general", tmp_path / "general"))
    change(policy / "pack.toml", 'check = "cited"', f'check = "{check}"')
    with pytest.raises(BrokenPack, match=f"check '{check}' cannot be made on 'decision_summary'"):
        load(policy)


def test_an_id_used_twice_is_named_at_its_second_line(credit: Path):
    change(credit / "pack.toml", 'id = "existing_account"\n', 'id = "completed_application"\n')
    second = line_of(credit / "pack.toml", 'trigger = "decision_date"')
    text = (credit / "pack.toml").read_text().splitlines()
    lines = [number for number, words in enumerate(text, 1) if words == 'id = "completed_application"']
    assert len(lines) == 2
    assert second < lines[1]
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{lines[1]}: .*'completed_application' is used twice"):
        load(credit)


def test_only_a_law_that_grants_a_review_must_check_for_it(credit: Path):
    line = change(credit / "pack.toml", '"not_granted"', '"required"')
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{line}: human_review"):
        load(credit)


def test_a_policy_claims_no_law(tmp_path: Path):
    policy = Path(shutil.copytree(SHIPPED / "general", tmp_path / "general"))
    line = change(policy / "pack.toml", 'authority = "guidance"', 'authority = "rule"')
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{line}: .*a policy is no law"):
        load(policy)


def test_a_law_does_not_only_advise(tmp_path: Path):
    law = Path(shutil.copytree(SHIPPED / "gdpr_22", tmp_path / "gdpr_22"))
    line = change(law / "pack.toml", 'human_review = "required"', 'human_review = "required"\nadvisory = true') + 1
    with pytest.raises(BrokenPack, match=rf"pack\.toml:{line}: .*a law binds"):
        load(law)


def test_a_pack_that_prints_a_forbidden_phrase_is_refused(tmp_path: Path):
    act = Path(shutil.copytree(SHIPPED / "eu_ai_act_86", tmp_path / "eu_ai_act_86"))
    line = change(act / "text.de.toml", 'deadline_note = ""', 'deadline_note = "Artikel 86 gibt Ihnen einen Monat."')
    with pytest.raises(BrokenPack, match=rf"text\.de\.toml:{line}: .*'Artikel 86'"):
        load(act)


def test_a_label_or_locked_text_missing_in_one_language_is_named_there(tmp_path: Path):
    quebec = Path(shutil.copytree(SHIPPED / "ca_qc_12_1", tmp_path / "ca_qc_12_1"))
    change(quebec / "text.en.toml", 'human_review = "A person', '# "A person')
    change(quebec / "text.en.toml", 'correction = "You have', '# "You have')
    with pytest.raises(BrokenPack) as broken:
        load(quebec)
    text = quebec / "text.en.toml"
    assert set(broken.value.problems) == {
        f"ca_qc_12_1/text.en.toml:{line_of(text, '[labels]')}: labels: [labels] lacks 'human_review'",
        f"ca_qc_12_1/text.en.toml:{line_of(text, '[locked]')}: locked: [locked] lacks 'correction'",
    }


def remove_text(directory: Path) -> None:
    (directory / "text.en.toml").unlink()


def remove_pack(directory: Path) -> None:
    (directory / "pack.toml").unlink()


def add_language(directory: Path) -> None:
    shutil.copy(directory / "text.en.toml", directory / "text.es.toml")


def spoil_bytes(directory: Path) -> None:
    (directory / "text.en.toml").write_bytes(b'title = "a"\nframework = "\xff"\n')


def problems(root: Path) -> Sequence[str]:
    with pytest.raises(BrokenPack) as broken:
        load_all(root)
    return broken.value.problems


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove_text, "us_ecoa_fcra/text.en.toml:1: cannot be read"),
        (remove_pack, "us_ecoa_fcra/pack.toml:1: cannot be read"),
        (add_language, "us_ecoa_fcra/text.es.toml:1: belongs to no language"),
        (spoil_bytes, "us_ecoa_fcra/text.en.toml:2: is not UTF-8"),
    ],
)
def test_missing_unreadable_and_extra_files_are_named(credit: Path, spoil: Callable[[Path], None], message: str):
    spoil(credit)
    assert [one for one in problems(credit.parent) if one.startswith(message)]


def test_the_directory_is_named_like_the_pack(credit: Path):
    renamed = credit.rename(credit.with_name("us_credit"))
    line = line_of(renamed / "pack.toml", 'id = "us_ecoa_fcra"')
    with pytest.raises(BrokenPack, match=rf"us_credit/pack\.toml:{line}: id: the directory is named 'us_credit'"):
        load(renamed)


def test_all_mistakes_of_all_packs_are_reported_at_once(credit: Path):
    shutil.copytree(SHIPPED / "general", credit.parent / "general")
    change(credit / "text.en.toml", "{contact}", "{contcat}")
    change(credit / "pack.toml", 'clock = "counteroffer"', 'clock = "counter"')
    change(credit.parent / "general" / "pack.toml", "effective_from = 2026-01-01", "effective_from = 2026")
    assert [one.split(":")[0] for one in problems(credit.parent)] == [
        "general/pack.toml",
        "us_ecoa_fcra/pack.toml",
        "us_ecoa_fcra/text.en.toml",
    ]


@pytest.mark.parametrize("file", ["pack.toml", "text.en.toml"])
def test_the_digest_changes_with_a_byte(credit: Path, file: str):
    before = load(credit).digest
    assert before == load(SHIPPED / "us_ecoa_fcra").digest
    with (credit / file).open("a") as opened:
        opened.write("\n")
    assert load(credit).digest != before


def test_a_language_is_added_by_a_file_and_its_name(credit: Path):
    shutil.copy(credit / "text.en.toml", credit / "text.es.toml")
    change(credit / "text.es.toml", "Our decision about your credit", "Nuestra decisión sobre su crédito")
    change(credit / "pack.toml", 'languages = ["en"]', 'languages = ["en", "es"]')
    assert load(credit).text("es").title == "Nuestra decisión sobre su crédito"


def test_a_pack_ends_with_its_last_day(credit: Path):
    change(
        credit / "pack.toml", "effective_from = 2022-01-01", "effective_from = 2022-01-01\neffective_to = 2026-12-31"
    )
    pack = load(credit)
    reasons = pack.element("specific_reasons")
    days = [date(2021, 12, 31), date(2022, 1, 1), date(2026, 12, 31), date(2027, 1, 1)]
    assert [pack.blocks(reasons, on) for on in days] == [False, True, True, False]


RECORD: dict[str, Any] = {
    "score": 0,
    "used": False,
    "note": "",
    "kinds": [],
    "basis": "contract",
    "rate": Decimal("0.7"),
    "one": 1,
    "nothing": None,
    'a."b c".d': "quoted",
}


@each_case(
    ("words", "holds"),
    [
        ("always", True),
        ("on_request", False),
        ("if record score", True),
        ("if record used", False),
        ("if record note", False),
        ("if record kinds", False),
        ("if record nothing", False),
        ("if record absent", False),
        ("if not record absent", True),
        ("if record used is false", True),
        ("if not record absent is false", True),
        ('if record basis is "contract"', True),
        ('if record basis is "law"', False),
        ("if record rate is 0.7", True),
        ("if record one is true", False),
        ("if record one is 1", True),
        ("if record nothing is null", True),
        ('if record a."b c".d is "quoted"', True),
        ('if record basis is "contract" and not record used', True),
        ('if record basis is "contract" and record used', False),
        ("if record absent|score", True),
        ("if record absent|nothing", False),
        ("if record note|kinds|basis", True),
        ('if record absent|basis is "law"|"contract"', True),
        ("if record used|basis", False),
        ('if record note is ""', True),
        ("if notice human_review_available", True),
        ("if not notice human_review_available", False),
    ],
)
def test_conditions_read_the_record_and_the_notice(words: str, holds: bool):
    assert parse(words).holds(RECORD.get, {"human_review_available": True}) is holds


def test_an_element_on_request_applies_once_requested():
    assert parse("on_request").holds(RECORD.get, requested=True)


@each_case(
    "words",
    [
        "",
        "never",
        "if",
        "if ",
        "if record",
        "if outcome.score",
        "if notice tone",
        "if record a is",
        "if record a is yes",
        "if record a||b",
        "if record |a",
        'if record a is "b"|c',
        "if record found.something",
        "if record a is [1]",
        "if record a or record b",
        "if record a and",
    ],
)
def test_ambiguous_conditions_are_refused(words: str):
    with pytest.raises(InvalidCondition):
        parse(words)


# ── languages ──

_PARTS = ("localization", "letters", "mails", "wording")


@pytest.mark.parametrize("part", _PARTS)
def test_an_incomplete_language_stops_the_start(monkeypatch, tmp_path: Path, part: str):
    for name in _PARTS:
        shutil.copytree(CHECKOUT / "notices" / name, tmp_path / name, ignore=shutil.ignore_patterns("*.py"))
    monkeypatch.setattr(checks, "DIRECTORY", tmp_path)
    assert checks.languages_have_words() == []
    (tmp_path / part / "fr.toml").unlink()
    assert [error.msg for error in checks.languages_have_words()] == [f"notices/{part}/fr.toml is missing."]


def test_a_language_without_a_catalogue_for_its_pages_stops_the_start(settings, tmp_path: Path):
    shutil.copytree(CHECKOUT / "locale", tmp_path / "locale")
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    assert checks.languages_have_words() == []
    (tmp_path / "locale/fr/LC_MESSAGES/django.mo").unlink()
    assert [error.msg for error in checks.languages_have_words()] == ["locale/fr/LC_MESSAGES/django.mo is missing."]
