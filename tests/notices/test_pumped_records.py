"""No text and no number of items in a record makes the service work more than its size warrants.

Each text below is repeated in every position of a record, and each shape has many items, up to the letter. A pattern
that is quadratic in a text's length holds the GIL and blocks sign-in for everyone: `tests/patterns.py` refuses it by
its form, and this file catches whatever else multiplies.
"""

import copy
import json
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from accounts.roles import Role
from config.errors import DomainError
from decisions import misspellings, record_times, record_tree, records
from notices import presenters
from notices.letters import render_html
from notices.packs import packs
from notices.previews import Sender, preview
from notices.public.html_digest import html_digest
from notices.record_paths import Facts
from tests.cases import each_case
from tests.growth import TIMES, assert_cheap, idle_seconds
from tests.notices.conftest import done, drafted

SENDER = Sender("Example House", {})
LAWS = (("us_ecoa_fcra", "en"), ("gdpr_22", "de"), ("ca_qc_12_1", "fr"), ("us_health_denial", "en"))
RECORD: dict[str, Any] = {
    "decision_id": "loan-1",
    "decided_at": "2026-11-20T09:30:00Z",
    "subject": {"reference": "application 4711", "language": "en", "jurisdiction": "US-CA"},
    "system": {"name": "Example Scorecard", "purpose": "To decide on credit."},
    "events": {
        "application": {"received_at": "2026-11-01T10:00:00Z", "amount": "5,000", "currency": "EUR"},
        "checks": [{"name": "report", "agency": "Equifax", "question": "Your age?", "answer": "40"}],
    },
    "outcome": {
        "action": "denied",
        "effective_date": "2026-11-21",
        "reasons": ["Payments are 46 % of income.", {"code": "R14", "text": "Too short a history"}],
        "principal_factors": [{"factor": "income", "path": "events.application.amount", "value": "0.46",
                               "direction": "adverse", "unit": "percent"}],
        "consequences": ["No loan is given."],
        "conditions": ["Pay back."],
        "counteroffer": {"amount": "1000", "term": "12 months", "how_to_accept": "Write to us"},
        "score": "580",
        "score_range": {"minimum": "300"},
        "key_factors": "inquiries",
    },
    "approval": {"approver": "credit officer 3", "authority": "loans", "human_involvement": "Read it all."},
}  # fmt: skip
KEYS = ("events", "application", "amount", "checks", "agency", "outcome", "reasons", "text", "factor", "term")
"""Those of the record that are pumped, too: one of each part."""
TABLES = ("sensitive/fields.toml", "sensitive/bases.toml", "wording/en.toml", "wording/de.toml", "wording/fr.toml")


def words_of_tables() -> str:
    """Return every name in the tables of rules, once."""

    def texts(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            for inner in part.values() if isinstance(part, dict) else part:
                yield from texts(inner)

    folder = Path(presenters.__file__).parent
    tables = (tomllib.loads((folder / name).read_text("utf-8")) for name in TABLES)
    return " ".join(dict.fromkeys(text for table in tables for text in texts(table)))


PUMPS = (
    " ", "\n", "\xa0", "1", "0,", "1 ", "1.", "\u0661", "\xb2", "%", "\u20ac", "- ", " .", "*", "/", ":", ";", "|",
    "<a ", "&", "{", "(", '"', "'", "a_", "aA", "A", "a@", "e\u0301", "\u2066", "a\u0434\u6f22", "M. ", "pin ",
    "x y ", "twenty ", "half and a ", "12 March ", "In 2026 Bob ", "because of age; ", "\u0301\u0327", "\u0f73",
)  # fmt: skip
AROUND = (("", "x!"), ("x", "!"), ("A|", "|"), ("", ""))
TOGETHER = 4
"""Places of a record that are pumped at a time."""
SIZE = 12_000
"""Characters in each."""
Place = tuple[str | int, ...]


def places(part: Any, path: Place = ()) -> Iterator[tuple[Place, bool]]:
    """Yield the path of each value of a record (false), and of KEYS (true), from the inside out."""
    for step, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, step))
        else:
            yield (*path, step), False
        if step in KEYS:
            yield (*path, step), True


def pumped(spots: Sequence[tuple[Place, bool]], texts: Sequence[str]) -> bytes:
    """Return the record with texts in those places."""
    record = copy.deepcopy(RECORD)
    for (path, is_key), text in zip(spots, texts, strict=True):
        holder: Any = record
        for step in path[:-1]:
            holder = holder[step]
        if is_key:
            holder[text] = holder.pop(path[-1])
        else:
            holder[path[-1]] = text
    return json.dumps(record).encode()


def read(raw: bytes, law: tuple[str, str]) -> None:
    """Process a record up to its letter and public page, as every part of the service does."""
    content = records.submission(raw, "api").content
    list(misspellings.find(content))
    list(record_times.find(content))
    record_tree.part(raw)
    pack, language = law
    draft = preview(Facts(raw), packs()[pack], SENDER, language=language)
    presenters.preview(draft, "text")
    render_html(draft.letter)
    html_digest(draft.letter)


def reader(law: tuple[str, str]) -> Callable[[bytes], None]:
    def work(raw: bytes) -> None:
        try:
            read(raw, law)
        except DomainError:  # a refusal has to be as cheap
            return

    return work


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PUMPS) + 1))
def test_a_text_costs_what_its_length_costs_in_every_place_of_a_record(number):
    unit = [*PUMPS, words_of_tables()][number]
    everywhere = list(places(RECORD))
    misses = []
    for turn, start in enumerate(range(0, len(everywhere), TOGETHER), start=number):
        spots = everywhere[start : start + TOGETHER]
        work = reader(LAWS[turn % len(LAWS)])

        def raw(size: int, spots: Any = spots, turn: int = turn) -> bytes:
            texts = ((unit * (size // len(unit) + 1))[:size] for _ in spots)
            around = (AROUND[(turn + place) % len(AROUND)] for place in range(len(spots)))
            return pumped(spots, [before + text + after for text, (before, after) in zip(texts, around, strict=False)])

        try:
            assert_cheap(work, raw(SIZE // TIMES), raw(SIZE), idle_seconds(work, raw(0)))
        except AssertionError as miss:
            misses.append(f"{spots}: {miss}")
    assert misses == []


def outcome(**parts: Any) -> dict[str, Any]:
    return {"decision_id": "d", "decided_at": "2026-11-20T09:30:00Z", "outcome": {"action": "denied", **parts}}


def events(inside: Any) -> dict[str, Any]:
    return {**outcome(reasons=["Too short a history."]), "events": inside}


SHAPES: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "a key of many words above fields": lambda n: events(
        {("a pin " * n)[: n // 4]: {f"f{i}": i for i in range(n // 40)}}
    ),
    "an event's long name above fields": lambda n: events(
        [{"name": ("pin " * n)[:n], **{f"f{i}": i for i in range(n // 20)}}]
    ),
    "an item's long name above fields": lambda n: outcome(
        reasons=[{"name": ("pin " * n)[:n], **{f"f{i}": i for i in range(n // 10)}}]
    ),
    "reasons": lambda n: outcome(reasons=[{"code": f"R{i}", "text": f"Reason number {i}."} for i in range(n // 40)]),
    "factors": lambda n: outcome(
        principal_factors=[{"factor": f"f{i}", "path": "decided_at", "value": i} for i in range(n // 50)]
    ),
    "numbers in a reason": lambda n: outcome(reasons=["".join(f"{i}, " for i in range(n // 6))]),
    "names in a reason": lambda n: outcome(reasons=["".join(f"Bob{i} met Al Ice. " for i in range(n // 18))]),
    "amounts": lambda n: events({"application": {f"amount_{i}": f"{i},000 EUR" for i in range(n // 30)}}),
    "events of one name": lambda n: events([{"name": "e", "x": i} for i in range(n // 25)]),
    "questions": lambda n: events({"q": [{"question": "What is your age?", "answer": i} for i in range(n // 45)]}),
    "people": lambda n: events({"household": [{"name": f"Al Ice{i}", "role": "spouse"} for i in range(n // 40)]}),
    "offers": lambda n: outcome(counteroffer={f"amount_{i}": i for i in range(n // 16)}),
    "keys that are almost known": lambda n: outcome(**{f"reason_code{i}": 1 for i in range(n // 18)}),
    "nested reasons": lambda n: outcome(reasons=[{"reasons": [{"text": f"History {i}."} for i in range(n // 40)]}]),
}


@pytest.mark.slow
@each_case("shape", SHAPES)
def test_many_items_cost_what_their_number_costs(shape):
    def raw(size: int) -> bytes:
        return json.dumps(SHAPES[shape](size)).encode()

    work = reader(LAWS[0])
    assert_cheap(work, raw(SIZE // TIMES), raw(SIZE), idle_seconds(work, raw(0)))


@pytest.mark.django_db
def test_blanks_in_a_stored_record_do_not_slow_its_readers_down(api, api_for, organization):
    """40 KB of blanks in one reason cost 8.5 s a request. A tenth of that in words may cost a tenth."""
    sender = api_for(organization, Role.SENDER)

    def seconds(name: str, text: str) -> float:
        record = {**outcome(reasons=[text], consequences=[text], score=text), "decision_id": name}
        started = time.thread_time()
        tried = sender.post("/v1/ingest/srf?dry_run=true", json.dumps(record).encode())
        assert tried.status_code == 200
        done(sender.ingest(record))
        notice = drafted(api, name)
        for part in ("", "/checklist", "/letter?format=text", "/letter?format=html"):
            assert api.get(f"/v1/notices/{notice['notice_id']}{part}").status_code == 200
        return time.thread_time() - started

    seconds("first", "A plain reason.")
    assert seconds("blank", " " * 40_000 + "x!") < 10 * seconds("words", "So it is. " * 400)
