"""What the operator's guide tells of the pages is what they have."""

import re

from docs.walk import DECISION
from notices.back_office.actions import ACTIONS
from notices.forms import FieldNames, SettingsForm
from notices.phrasebook_csv import COLUMNS
from notices.public.labels import words
from tests.docs.documents import section, text

GUIDE = "docs/operators-guide.md"
OF_EVERY_LIST = {"j", "k"}


def test_it_names_every_key_of_a_notices_page_and_no_other():
    links = set(re.findall(r'data-key="(\w)"', text("templates/notices/review.html")))
    assert links
    told = set(re.findall(r"`(\w)`", section(GUIDE, "Keyboard")))
    assert told == links | {action.key for action in ACTIONS.values()} | OF_EVERY_LIST


def test_it_names_everything_that_can_be_done_with_a_notice():
    assert [action.label for action in ACTIONS.values() if f"*{action.label}*" not in text(GUIDE)] == []


def test_it_names_the_lists_of_fields_and_the_groups_of_packs_as_the_pages_do():
    lists = [field.label for field in SettingsForm.base_fields.values() if isinstance(field, FieldNames)]
    groups = re.findall(r'optgroup label="([^"]+)"', text("templates/notices/pack_field.html"))
    assert len(lists) == len(groups) == 2
    assert [label for label in (*lists, *groups) if f"*{label}*" not in text(GUIDE)] == []


def test_it_tells_of_every_state_of_a_request_that_waits():
    assert "*to be told*" in text(GUIDE)
    assert words("en")["status"] in text(GUIDE)


def test_its_row_of_the_phrasebook_has_the_columns_of_one():
    head, _, row = [line for line in section(GUIDE, "The phrasebook").splitlines() if line.startswith("|")]
    assert [name.strip() for name in head.strip("|").split("|")] == list(COLUMNS)
    assert row.count("|") == head.count("|")


def test_it_follows_the_decision_of_the_pictures():
    assert f"`{DECISION}`" in text(GUIDE)
