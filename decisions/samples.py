"""The sample data as SRF records: real mortgage decisions, and synthetic ones from other fields."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

SAMPLES: Path = settings.BASE_DIR / "samples"
EXPORTED = 380
"""So many of the mortgage decisions, the last ones, come into the demo through a connector."""
_YES_NO = {"yes": "true", "no": "false"}
_FACTS = [
    "payments_to_income",
    "housing_expense_to_income",
    "loan_to_value",
    "consumer_credit_history",
    "mortgage_credit_history",
    "public_bad_credit_record",
    "industry_unemployment_rate",
    "self_employed",
    "denied_mortgage_insurance",
    "condominium",
    "high_school_diploma",
]


def mortgage_records() -> Iterator[bytes]:
    """One record for each row of the data set, saying what the row says and nothing else.

    The data has no dates, reasons or scores, so the records have none. Numbers keep the row's spelling.
    """
    with open(SAMPLES / "mortgage_decisions.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            facts = ", ".join(f'"{name}": {_YES_NO.get(row[name], row[name])}' for name in _FACTS)
            action = "denied" if row["denied"] == "yes" else "not_denied"
            number = row["application"]
            yield (
                f'{{"decision_id": "boston-hmda-1990-{number}", "subject": {{"reference": "application {number}"}}, '
                f'"events": {{"application": {{{facts}}}}}, "outcome": {{"action": {json.dumps(action)}}}}}'
            ).encode()


def synthetic_records() -> list[bytes]:
    """Invented records that exercise every field of the profile."""
    return (SAMPLES / "synthetic.ndjson").read_bytes().splitlines()
