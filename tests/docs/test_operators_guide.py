"""The operator's guide: it names the keys, actions, lists and states that the pages have."""

import re

from docs.walk import DECISION
from notices.back_office.actions import ACTIONS
from notices.forms import FieldNames, SettingsForm
from notices.phrasebook_csv import COLUMNS
from tests.docs.documents import section, text

GUIDE = "docs/operators-guide.md"
OF_EVERY_LIST = {"j", "k"}


def test_the_guide_names_exactly_the_keys_of_a_notices_page():
    links = set(re.findall(r'data-key="(\w)"', text("templates/notices/review.html")))
    assert links
    documented = set(re.findall(r"`(\w)`", section(GUIDE, "Keyboard")))
    assert documented == links | {action.key for action in ACTIONS.values()} | OF_EVERY_LIST


def test_the_guide_names_every_action_on_a_notice():
    assert [action.label for action in ACTIONS.values() if f"*{action.label}*" not in text(GUIDE)] == []


def test_the_guide_and_the_pages_use_the_same_names_for_lists_and_groups():
    lists = [field.label for field in SettingsForm.base_fields.values() if isinstance(field, FieldNames)]
    groups = re.findall(r"""optgroup label="{% translate '([^']+)'""", text("templates/notices/pack_field.html"))
    assert len(lists) == len(groups) == 2
    assert [label for label in (*lists, *groups) if f"*{label}*" not in text(GUIDE)] == []


def test_the_guide_names_the_states_of_a_waiting_request():
    assert "*to be told*" in text(GUIDE)
    assert "Check your request" in text(GUIDE)
    assert "Check your request" in text("templates/notices/public_request.html")


def test_the_guides_row_of_the_phrasebook_has_all_columns():
    head, _, row = [line for line in section(GUIDE, "The phrasebook").splitlines() if line.startswith("|")]
    assert [name.strip() for name in head.strip("|").split("|")] == list(COLUMNS)
    assert row.count("|") == head.count("|")


def test_the_guide_and_the_pictures_use_the_same_decision():
    assert f"`{DECISION}`" in text(GUIDE)
