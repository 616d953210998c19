"""Warnings that show the cited field of each statement the service did not draft."""

import json

import pytest

from decisions import samples
from notices import demo
from notices.warnings import find
from tests.notices.conftest import approve, done, drafted, edit, fill_in_names, refused, send, shown
from tests.notices.drafts import LANGUAGES, checked_draft, sample_phrases, under_each_pack, warned
from tests.notices.test_mapped_letters import RECORD as MAPPED
from tests.notices.test_mapped_letters import draft, mapping

__all__ = ["mapping"]

SOURCE = "events.application.loan_to_value"


def asked(notice: dict) -> list[tuple[str, str]]:
    """Return where the warnings about cited fields are, and what each shows."""
    listed = [warning for warning in notice["warnings"] if warning["id"].startswith("cited_field-")]
    return [(warning["where"], warning["sentence"].partition("? ")[2]) for warning in listed]


def ids(notice: dict) -> set[str]:
    return {warning["id"] for warning in notice["warnings"] if warning["id"].startswith("cited_field-")}


def statement(text: str, source: str = SOURCE) -> dict:
    return {"statement": text, "source": source}


@pytest.mark.django_db
class TestOfANotice:
    def test_each_statement_of_a_person_has_one_warning_with_its_field(self, api, notice):
        assert asked(notice) == []
        own = notice["content"]["main_factors"]
        written = [statement("The loan is large."), statement("It decided alone.", "outcome.action")]
        edited = done(edit(api, notice, main_factors=[*own, *written]))
        at = len(own)
        value = shown(api, edited)["citations"]
        values = {citation["source"]: citation["value"] for citation in value}
        assert asked(edited) == [
            (f"main_factors.{at}", f"Events, application, loan to value: {values[SOURCE]}"),
            (f"main_factors.{at + 1}", f"Outcome, action: {values['outcome.action']}"),
        ]

    def test_another_sentence_or_source_is_another_warning(self, api, notice):
        seen = [
            ids(done(edit(api, notice, main_factors=[item])))
            for item in (
                statement("The loan is large."),
                statement("The loan is not large."),
                statement("The loan is large.", "outcome.action"),
            )
        ]
        assert all(len(warnings) == 1 for warnings in seen)
        assert len(set.union(*seen)) == 3

    def test_a_drafted_statement_in_another_section_is_a_persons(self, api, notice):
        content = notice["content"]
        moved = done(edit(api, notice, main_factors=[*content["main_factors"], content["inputs_used"][0]]))
        assert [where for where, _ in asked(moved)] == [f"main_factors.{len(content['main_factors'])}"]

    def test_reordered_and_restored_statements_stay_the_drafts(self, api, notice):
        reordered = notice["content"]["decision_summary"][::-1]
        assert asked(done(edit(api, notice, decision_summary=reordered))) == []
        assert len(asked(done(edit(api, notice, decision_summary=[statement("Denied.")])))) == 1
        assert asked(done(edit(api, notice, decision_summary=reordered))) == []

    def test_a_new_version_knows_what_its_origin_drafted(self, api, notice):
        own = notice["content"]["main_factors"]
        edited = done(edit(api, notice, main_factors=[*own, statement("The loan is large.")]))
        acknowledge = [warning["id"] for warning in edited["warnings"]]
        done(approve(api, notice, acknowledge=acknowledge))
        version = send(api, "POST", f"notices/{notice['notice_id']}/versions").json()
        assert asked(version) == asked(edited) != []

    def test_a_law_wants_it_acknowledged_and_an_advisory_pack_lists_it(self, api):
        fill_in_names(api, "us_ecoa_fcra")
        raw = next(
            raw
            for raw in samples.synthetic_records()
            if demo.PACKS.get(json.loads(raw)["decision_id"]) == "us_ecoa_fcra"
        )
        assert api.ingest(json.loads(raw)).status_code == 201
        for pack, status in (("us_ecoa_fcra", 409), ("general", 200)):
            notice = drafted(api, json.loads(raw)["decision_id"], pack=pack)
            first = notice["content"]["decision_summary"][0]
            own = statement("You asked us for a loan.", first["source"])
            edited = done(edit(api, notice, decision_summary=[own, *notice["content"]["decision_summary"]]))
            others = [warning["id"] for warning in edited["warnings"] if warning["id"] not in ids(edited)]
            answer = approve(api, edited, acknowledge=others)
            assert answer.status_code == status, answer.content
            if status == 409:
                assert next(iter(ids(edited))) in refused(answer)

    def test_a_withheld_value_is_not_shown(self, api, mapping):
        notice = draft(api, MAPPED)
        edited = done(edit(api, notice, inputs_used=[statement("A fact.", "events.coapplicant.bankruptcy")]))
        assert [shown for _, shown in asked(edited)] == ["Events, coapplicant, bankruptcy: withheld"]

    def test_a_mapped_field_is_shown_with_label_stored_value_and_decode(self, api, mapping):
        notice = draft(api, MAPPED)
        own = [statement("We saw your credit report.", "events.bureau.score")]
        offer = [statement("We offer $12,500.", "outcome.counter.maxAmountFinanced")]
        edited = done(edit(api, notice, inputs_used=own, decision_summary=offer))
        (_, amount), (_, score) = asked(edited)
        assert score == "your credit report: 640"
        assert "1250000 (" in amount


@pytest.mark.parametrize("raw", [*samples.synthetic_records(), next(samples.mortgage_records())])
def test_an_untouched_sample_draft_has_no_warning_about_its_numbers_or_fields(raw):
    for record, pack, language in under_each_pack([raw]):
        listed = find(*checked_draft(record, pack, language, *sample_phrases(language)))
        assert warned("not_in_field", listed) == warned("cited_field", listed) == []


def test_samples_are_checked_in_every_language():
    assert set(LANGUAGES) == {language for _, _, language in under_each_pack(samples.synthetic_records())}
