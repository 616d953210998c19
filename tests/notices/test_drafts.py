"""A notice is drafted from the record and edited. Each edit makes a revision."""

import json

import pytest
from django.core.management import call_command

from accounts.models import AuditEvent
from accounts.roles import Role
from decisions import samples
from notices.models import Notice, NoticeRevision
from tests.cases import each_case
from tests.notices.conftest import RECORD, done, drafted, edit, exempt, ingest_sample, send, shown, step
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

FITTING = {
    "synthetic-insurance-03": "gdpr_22",
    "synthetic-insurance-04": "us_ecoa_fcra",
    "synthetic-insurance-05": "ca_qc_12_1",
    "synthetic-hiring-01": "eu_ai_act_86",
    "synthetic-hiring-04": "us_co_admt",
    "synthetic-benefits-02": "uk_gdpr_22c",
    "synthetic-prior-authorization-01": "us_health_denial",
}
STATEMENTS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")


# ── drafting ──


@each_case("decision_id", sorted(FITTING))
def test_every_statement_is_one_sentence_whose_source_resolves(api, decision_id):
    draft = drafted(api, ingest_sample(api, decision_id), pack=FITTING[decision_id])
    assert draft["citations"]
    assert all(citation["resolves"] for citation in draft["citations"])
    lines = [item["statement"] for name in STATEMENTS for item in draft["content"][name]]
    assert all(line[0].isupper() or not line[0].isalpha() for line in lines)
    assert all(line.endswith((".", "!", "?", "…")) and "\n" not in line for line in lines)


def test_a_denial_without_reasons_says_none_and_the_checklist_says_so(api):
    raw = next(raw for raw in samples.mortgage_records() if b'"denied"' in raw)
    api.ingest(raw)
    draft = drafted(api, json.loads(raw)["decision_id"], pack="us_ecoa_fcra")
    assert draft["content"]["main_factors"] == []
    missing = {
        element["where"] for element in draft["elements"] if element["result"] == "missing" and element["blocks"]
    }
    assert "main_factors" in missing


def test_the_same_record_gives_the_same_draft(api, notice):
    assert drafted(api)["content"] == notice["content"]


def test_an_unknown_pack_is_named_with_the_allowed_ones(api):
    api.ingest(RECORD)
    answer = send(api, "POST", "decisions/loan-1/notices", {"pack": "nowhere"})
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, "literal_error", ["body", "pack"])
    assert "us_ecoa_fcra" in problem["ctx"]["expected"]


def test_the_recipients_language_is_used_where_the_pack_has_it(api):
    api.ingest(RECORD)
    german = drafted(api, recipient={"language": "de-AT"})
    assert (german["language"], german["content"]["language"]) == ("de", "de")
    assert german["content"]["framework"] == "Unsere eigenen Regeln für Entscheidungen über Menschen"
    assert drafted(api, recipient={"language": "ja"})["language"] == "en"


def test_the_phrasebook_s_words_come_first_and_withheld_fields_are_not_printed(api, organization, tmp_path):
    table = tmp_path / "phrases.csv"
    table.write_text(
        "language,key,sentence,label,withheld,owner,approved_version\n"
        "en,loan_to_value,You asked for {value} of what the house is worth,,no,credit,3\n"
        "en,self_employed,,,yes,credit,3\n"
    )
    call_command("import_phrasebook", str(table), organization=organization.slug)
    api.ingest(RECORD)
    inputs = drafted(api)["content"]["inputs_used"]
    assert inputs == [
        {
            "statement": "You asked for 0.92 of what the house is worth.",
            "source": "events.application.loan_to_value",
        }
    ]


def test_the_default_pack_is_used_where_none_is_named(api):
    api.ingest(RECORD)
    assert drafted(api)["pack"] == "general"
    send(api, "PUT", "notice-settings", {"default_pack": "gdpr_22"})
    assert drafted(api)["pack"] == "gdpr_22"


def test_settings_name_a_pack_that_exists(api):
    answer = send(api, "PUT", "notice-settings", {"default_pack": "nowhere"})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "default_pack"])
    assert api.get("/v1/notice-settings").json()["default_pack"] == "general"


# ── editing ──


def test_an_edit_replaces_the_properties_supplied_and_makes_a_revision(api, notice):
    content = {"title": "About your loan", "main_factors": [{"statement": "A reason.", "source": "outcome.nowhere"}]}
    edited = edit(api, notice, **content).json()
    assert (edited["revision"], edited["content"]["title"]) == (2, "About your loan")
    assert edited["content"]["decision_summary"] == notice["content"]["decision_summary"]
    (unresolved,) = [citation for citation in edited["citations"] if not citation["resolves"]]
    assert unresolved["source"] == "outcome.nowhere"


@each_case(
    ("content", "where"),
    [
        ({"title": 5}, ["title"]),
        ({"rights": "all of them"}, ["rights"]),
        ({"rights": ["one", 2]}, ["rights", 1]),
        ({"main_factors": [{"statement": "No source."}]}, ["main_factors", 0, "source"]),
        ({"main_factors": {"statement": "No list.", "source": "outcome.action"}}, ["main_factors"]),
        ({"human_review_available": "yes"}, ["human_review_available"]),
        ({"language": "ja"}, ["language"]),
        ({"title": None}, ["title"]),
    ],
)
def test_content_of_the_wrong_type_is_refused(api, notice, content, where):
    answer = edit(api, notice, **content)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "content", *where]
    assert shown(api, notice)["revision"] == 1


def test_every_revision_stays_as_it_was_and_says_whose_it_is(api, notice):
    for title in ("One", "Two"):
        edit(api, notice, title=title)
    revisions = shown(api, notice, "/history")["revisions"]
    assert [row["revision"] for row in revisions] == [1, 2, 3]
    assert [row["content"]["title"] for row in revisions] == [notice["content"]["title"], "One", "Two"]
    assert len({row["digest"] for row in revisions}) == 3
    assert {row["author"] for row in revisions} == {"key test"}


@pytest.mark.parametrize("state", ["draft", "in_review"])
def test_an_edit_that_changes_nothing_makes_no_revision(api, notice, signed_in, state):
    if state == "in_review":
        step(api, notice, "submit")
    other = signed_in(Role.APPROVER)
    for answer in (edit(other, notice), edit(other, notice, title=notice["content"]["title"]), exempt(other, notice)):
        same = done(answer)
        assert (same["revision"], same["content"], same["state"]) == (1, notice["content"], state)
    assert done(step(other, notice, "approve", {}))["state"] == "approved"  # a member who changed nothing is no writer
    assert [event.verb for event in AuditEvent.objects.filter(verb="notice.edited")] == []


def test_an_edit_that_changes_nothing_adopts_a_pack_that_has_changed(api, notice):
    Notice.objects.update(pack_version="2020.1", pack_digest="0" * 64)  # as if written before an upgrade
    adopted = done(edit(api, notice))
    assert (adopted["revision"], adopted["pack_version"]) == (2, notice["pack_version"])
    assert done(edit(api, notice))["revision"] == 2


def test_an_edit_that_changes_nothing_adopts_current_record_values(api, notice):
    cited = NoticeRevision.objects.get().cited
    with unguarded():
        NoticeRevision.objects.update(cited=dict.fromkeys(cited, "something else"))
    assert any("has another value" in problem for problem in shown(api, notice)["problems"])
    adopted = done(edit(api, notice))
    assert (adopted["revision"], adopted["problems"]) == (2, notice["problems"])


# ── the checklist ──


def test_the_checklist_states_blocking_problems_in_sentences(api, notice):
    assert shown(api, notice, "/checklist")["problems"] == []
    edit(api, notice, inputs_used=[{"statement": "A fact.", "source": "outcome.nowhere"}])
    assert shown(api, notice, "/checklist")["problems"] == ["The source outcome.nowhere leads nowhere in the record."]


def test_a_legal_element_is_named_with_its_citation(api):
    draft = drafted(api, ingest_sample(api, "synthetic-insurance-04"), pack="us_ecoa_fcra")
    problems = shown(api, draft, "/checklist")["problems"]
    assert any("12 CFR 1002.9(a)(2): name and address of the creditor" in problem for problem in problems)


# ── the holder of a notice ──


def test_a_notice_is_held_by_the_member_who_wrote_it_last_until_it_is_sent_on(api, notice, signed_in):
    assert notice["holder"] is None, "a key holds nothing"
    writer = signed_in(Role.EDITOR, "writer@bank.example")
    assert done(edit(writer, notice, title="Mine"))["holder"] == "writer@bank.example"
    assert [row["holder"] for row in api.get("/v1/notices").json()["items"]] == ["writer@bank.example"]
    assert done(step(writer, notice, "submit"))["holder"] is None


def test_a_notice_stays_when_the_member_who_holds_it_leaves(api, notice, signed_in, organization):
    done(edit(signed_in(Role.EDITOR, "writer@bank.example"), notice, title="Mine"))
    organization.members.get(user__email="writer@bank.example").delete()
    left = shown(api, notice)
    assert (left["holder"], left["content"]["title"]) == (None, "Mine")
    assert shown(api, notice, "/history")["revisions"][-1]["author"] == "member writer@bank.example"


def test_the_drafting_member_holds_the_notice_and_the_response_says_so(api, signed_in):
    api.ingest(RECORD)
    made = done(send(signed_in(Role.EDITOR), "POST", "decisions/loan-1/notices"))
    assert made["holder"] == shown(api, made)["holder"] == "editor@example-bank.example"
