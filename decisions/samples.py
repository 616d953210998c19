"""Sample data as SRF records: real mortgage decisions, and synthetic decisions from other fields."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

SAMPLES: Path = settings.BASE_DIR / "samples"
EXPORTED = 380
"""The number of mortgage decisions, from the end, that the demo reads through a connector."""
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
    """Yield a record for each row of the data set, with the row's values only.

    The data has no dates, reasons or scores, so neither have the records. Numbers keep the row's spelling.
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
    """Return invented records that use every field of the profile."""
    return (SAMPLES / "synthetic.ndjson").read_bytes().splitlines()
