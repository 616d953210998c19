"""Fields under `outcome` are never lost in silence: each is printed, withheld, or listed as left out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.roles import Role
from notices import checklist
from notices.phrasebook import Phrase
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, edit, refused
from tests.notices.drafts import EVERY, checked_draft, listed_problems
from tests.notices.drafts import drafted as content_of
from tests.notices.test_drafting_any_record import RECORDS

WORDS = "The debts are too high."
NOTHING = {"decision_summary": [], "main_factors": [], "inputs_used": []}


def untold_in(outcome, content=None, *phrases, pack="general"):
    checked, made = checked_draft({"decision_id": "d", "outcome": outcome}, pack, "en", *phrases)
    fields = checklist.untold_fields(checked, made if content is None else content)
    return {field.path.removeprefix("outcome."): field.kind for field in fields}


def problems_of(outcome, content, *phrases):
    checked, _ = checked_draft({"decision_id": "d", "outcome": outcome}, "general", "en", *phrases)
    return [problem for problem in listed_problems(checked, content) if "no statement tells it" in problem]


def test_an_untold_field_is_listed_and_a_flag_that_a_letter_depends_on_is_not():
    outcome = {
        "action": "denied",
        "model_version": "3",
        "score": 5,
        "solely_automated": True,
        "appeal": {"how": "Write."},
    }
    assert untold_in(outcome) == {"model_version": "detail", "score": "detail", "appeal.how": "detail"}


@each_case(
    ("outcome", "path"),
    [
        ({"reasons": [WORDS]}, "reasons.0"),
        ({"reasons": [{"code": "R1", "text": WORDS}]}, "reasons.0.text"),
        ({"principal_factors": [{"factor": "debt"}]}, "principal_factors.0.factor"),
        ({"conditions": ["Sign."]}, "conditions.0"),
        ({"offer": {"amount_eur": 5}}, "offer.amount_eur"),
        ({"counteroffer": {"term_months": 48}}, "counteroffer.term_months"),
    ],
)
def test_a_reason_condition_or_term_blocks_until_a_statement_cites_it_or_it_is_withheld(outcome, path):
    nothing = content_of({"outcome": outcome}) | NOTHING
    assert any(f"outcome.{path} " in problem for problem in problems_of(outcome, nothing))
    own_words = nothing | {"main_factors": [{"statement": "In other words.", "source": f"outcome.{path}"}]}
    assert problems_of(outcome, own_words) == []
    withheld = Phrase(key=f"outcome.{path.split('.')[0]}", withheld=True)
    assert problems_of(outcome, nothing, withheld) == []
    assert untold_in(outcome, nothing, withheld) == {}


@each_case(("codes", "left"), [(["R1"], []), (["R1", "R2"], ["reason_codes.0", "reason_codes.1"])])
def test_codes_beside_as_many_reasons_stand_for_them(codes, left):
    assert list(untold_in({"reasons": [WORDS], "reason_codes": codes})) == left


def test_a_code_without_words_is_not_printed_and_is_listed():
    outcome = {"reasons": [{"code": "R17"}]}
    assert content_of({"outcome": outcome})["main_factors"] == []
    assert untold_in(outcome) == {"reasons.0.code": "reason"}
    assert untold_in(outcome, None, Phrase(key="R17", sentence=WORDS)) == {}


def test_a_value_in_a_packs_text_counts_as_told():
    outcome = {"action": "denied", "appeal": {"internal_days": 180, "how": "x"}}
    record = {"decision_id": "d", "subject": {"plan_type": "employer"}, "outcome": outcome}
    checked, content = checked_draft(record, "us_health_denial")
    assert "180" in " ".join(content["rights"])
    assert "outcome.appeal.internal_days" not in {field.path for field in checklist.untold_fields(checked, content)}


@settings(max_examples=100, deadline=None)
@given(RECORDS, st.sampled_from(EVERY))
def test_a_draft_tells_each_reason_and_term_that_it_has_words_for(record, under):
    checked, content = checked_draft(record, *under)
    left_out = [field.path for field in checklist.untold_fields(checked, content) if field.blocks]
    stored = (checked.facts.stored(path) for path in left_out)
    assert [value for value in stored if isinstance(value, str) and value.strip() and value != value.upper()] == []


@pytest.mark.django_db
def test_the_answer_lists_untold_fields_and_a_reason_blocks_approval(api):
    api.ingest({"decision_id": "lost", "outcome": {"action": "denied", "reasons": [WORDS], "model": "m"}})
    notice = drafted(api, "lost", pack="gdpr_22")
    assert notice["untold"] == [{"path": "outcome.model", "kind": "detail", "blocks": False}]
    edited = done(edit(api, notice, main_factors=[{"statement": "It was denied.", "source": "outcome.action"}]))
    assert {"path": "outcome.reasons.0", "kind": "reason", "blocks": True} in edited["untold"]
    assert "outcome.reasons.0 is a reason, and no statement tells it" in refused(approve(api, edited))


@pytest.mark.django_db
def test_the_review_page_shows_untold_fields(api, signed_in):
    api.ingest({"decision_id": "lost", "outcome": {"action": "denied", "reasons": [WORDS], "model": "m"}})
    notice = drafted(api, "lost", pack="gdpr_22")
    done(edit(api, notice, main_factors=[]))
    page = signed_in(Role.APPROVER).get(f"/admin/notices/notice/{notice['notice_id']}/change/").content.decode()
    assert "Left out of this letter" in page
    assert "outcome.model" in page
    assert "must be cited or withheld" in page
