"""Laws on automated decisions, decisions by people, contradicting records, and laws not yet in force."""

import json

import pytest

from notices import checklist
from notices.models import Notice, NoticeRevision
from notices.packs import packs
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, edit, exempt, shown, step
from tests.notices.drafts import case, statement_texts
from tests.notices.judged import AUTOMATED, REVIEW, SOLELY, about, kinds, letter, missing, results, sentences
from tests.notices.test_reasons import Words
from tests.support.unguarded import unguarded

# ── letters about a person's review ──


@each_case("pack", [*SOLELY, "us_co_admt", "eu_ai_act_86", "eu_ccd2_18", "general"])
def test_a_person_s_review_is_not_blocked_by_tests_for_automated_decisions(pack):
    language = packs()[pack].languages[0]
    content = letter(REVIEW, pack, language)
    assert checklist.problems(case(REVIEW, pack), Words(content)) == []
    assert content["human_review_available"] is False


@pytest.mark.parametrize("pack", SOLELY)
def test_a_review_without_a_stated_decider_warns(pack):
    language = packs()[pack].languages[0]
    (sentence,) = sentences(REVIEW, pack, "who_decided", language)
    assert "One who only followed the system's result" in sentence
    record = {**REVIEW, "outcome": {"result": "upheld", "solely_automated": False}}
    assert {"who_decided", "not_automated"}.isdisjoint(kinds(record, pack, language))


def test_a_judgment_is_cited_only_where_it_binds():
    cited = {pack for pack, law in packs().items() if "C-634/21" in law.model_dump_json()}
    assert cited == {"gdpr_22"}
    for pack in (*SOLELY, "us_ca_admt"):
        language = packs()[pack].languages[0]
        warned_text = " ".join(sentences(REVIEW, pack, "who_decided", language))
        assert ("C-634/21" in warned_text) is (pack == "gdpr_22")
    assert "Article 22A" in " ".join(sentences(REVIEW, "uk_gdpr_22c", "who_decided"))


# ── approvals ──

APPROVED = [
    {"action": "APPROVED"},
    {"action": "genehmigt"},
    {"action": "shortlisted"},
    {"action": None, "result": "granted"},
]


@each_case("outcome", APPROVED)
@each_case("pack", ["gdpr_22", "uk_gdpr_22c", "us_co_admt", "eu_ccd2_18"])
def test_an_approval_has_nothing_to_contest(outcome: dict, pack: str):
    approved = {**about(reasons=None, **outcome), "decided_at": "2027-02-01T10:00:00Z"}
    content = letter(approved, pack)
    rights = " ".join(content["rights"]).casefold()
    assert not [word for word in ("contest", "review", "human intervention", "point of view") if word in rights]
    assert (content["human_review_available"], content["how_to_request_review"]) == (False, "")
    assert missing(approved, pack) == set()


@each_case("action", ["denied", "counteroffer", "conditionally_approved", "partially_approved", "reduced"])
@each_case("pack", ["gdpr_22", "uk_gdpr_22c", "us_co_admt"])
def test_a_partly_adverse_decision_can_be_contested(action: str, pack: str):
    assert (
        letter({**about(action=action), "decided_at": "2027-02-01T10:00:00Z"}, pack)["human_review_available"] is True
    )


@pytest.mark.parametrize("pack", SOLELY)
def test_a_reviewer_who_merely_follows_the_score_leaves_it_an_automated_decision(pack):
    followed = {**REVIEW, "outcome": {"result": "upheld", "solely_automated": True}}
    language = packs()[pack].languages[0]
    assert "contradiction" in kinds(followed, pack, language)
    assert letter(followed, pack, language)["human_review_available"] is True
    assert letter(followed, pack, language)["framework"] == packs()[pack].text(language).framework


@pytest.mark.parametrize(
    "changes",
    [
        {"approval": None},
        {"approval": {"approver": ""}},
        {"approval": {"approver": "n/a"}},
        {"approval": {"approver": "system"}},
        {"approval": {"approver": "reviewer 12", "human_involvement": "none"}},
    ],
)
def test_without_a_named_reviewer_nothing_says_that_a_person_looked(changes):
    assert missing({**REVIEW, **changes}, "gdpr_22") >= {"solely_automated"}


@pytest.mark.parametrize("reconsiders", [{"decision_id": "loan-1"}, "loan-1"])
@pytest.mark.parametrize("approver", ["reviewer 12", {"name": "reviewer 12"}])
def test_a_review_from_elsewhere_is_known_however_it_is_spelled(reconsiders, approver):
    record = {**REVIEW, "reconsiders": reconsiders, "approval": {"approver": approver}}
    assert missing(record, "gdpr_22") == set()


# ── a person's decision ──


@each_case(("pack", "language"), [(pack, spoken) for pack in SOLELY for spoken in packs()[pack].languages])
def test_a_letter_about_a_person_s_decision_cites_no_law_for_automated_ones(pack, language):
    content = letter(about(solely_automated=False), pack, language)
    assert content["framework"] != packs()[pack].text(language).framework
    assert not any(number in content["framework"] for number in ("22", "12.1", "65.2"))
    assert content["human_review_available"] is False
    assert "not_automated" in kinds(about(solely_automated=False), pack, language)


@pytest.mark.parametrize("word", ["decided_by_human", "Decided by human", "DECIDED-BY-PERSON", "manual", "Entschieden"])
def test_a_record_with_human_involvement_warns_about_who_decided(word):
    record = {**about(solely_automated=None), "approval": {"human_involvement": word}}
    assert "22" not in letter(record, "gdpr_22")["framework"]
    assert "who_decided" in kinds(record, "gdpr_22")


@each_case("word", ["none", "reviewed_before_decision", "", "n/a", 7, None])
def test_a_record_without_a_decider_counts_as_automated(word):
    record = {**about(solely_automated=None), "approval": {"human_involvement": word}}
    assert "22" in letter(record, "gdpr_22")["framework"]
    assert "solely_automated" in missing(record, "gdpr_22")


def test_the_law_s_name_on_a_person_s_decision_is_a_problem_and_its_right_a_warning():
    record = about(solely_automated=False)
    automated = letter(AUTOMATED, "gdpr_22")
    words = {**letter(record, "gdpr_22"), "framework": automated["framework"], "rights": automated["rights"]}
    assert any("Articles 15, 16 and 77" in text for text in checklist.problems(case(record, "gdpr_22"), Words(words)))
    assert "own_right" in kinds(record, "gdpr_22", rights=automated["rights"])
    assert "own_right" not in kinds(record, "gdpr_22")


@pytest.mark.parametrize("pack", ["us_co_admt", "eu_ai_act_86", "eu_ccd2_18"])
def test_a_law_about_decisions_with_a_system_warns_where_the_record_tells_of_none(pack):
    assert "not_automated" in kinds({**about(solely_automated=False), "system": {}}, pack)
    assert "not_automated" not in kinds(about(solely_automated=False), pack)


# ── contradictions ──


@each_case("pack", ["general", "gdpr_22", "us_ecoa_fcra"])
@each_case(
    ("solely", "approval"),
    [
        (True, {"approver": "officer 3"}),
        (True, {"approver": ["officer 3"]}),
        (True, {"human_involvement": "decided_by_human"}),
        (True, {"human_involvement": "reviewed_before_decision"}),
        (True, {"human_involvement": True}),
        (False, {"human_involvement": "None"}),
        (False, {"human_involvement": "keine"}),
        (None, {"human_involvement": "none", "approver": "officer 3"}),
    ],
)
def test_a_record_that_contradicts_itself_about_who_decided_warns(pack, solely, approval):
    assert "contradiction" in kinds({**about(solely_automated=solely), "approval": approval}, pack)


@each_case(
    ("solely", "approval"),
    [
        (True, None),
        (True, {"approver": None, "human_involvement": "none"}),
        (True, {"approver": "n/a", "human_involvement": "n/a"}),
        (True, {"approver": "", "human_involvement": False}),
        (False, {"approver": "officer 3", "human_involvement": "decided_by_human"}),
        ("no", {"approver": "officer 3"}),
    ],
)
def test_a_consistent_record_does_not_warn(solely, approval):
    assert "contradiction" not in kinds({**about(solely_automated=solely), "approval": approval}, "general")


# ── laws not yet in force ──


@pytest.mark.parametrize(
    ("pack", "before", "since"),
    [
        ("us_co_admt", "2026-12-31", "2027-01-01"),
        ("us_co_admt", "2026-12-31T23:30:00-07:00", "2027-01-01T00:30:00-07:00"),
        ("us_ca_admt", "2026-12-31T23:59:59-08:00", "2027-01-01T00:00:00-08:00"),
        ("eu_ccd2_18", "2026-11-19", "2026-11-20T00:00:00+01:00"),
        ("uk_gdpr_22c", "2026-02-04T10:00:00Z", "2026-02-05"),
    ],
)
def test_a_decision_from_before_the_law_warns_and_its_letter_claims_no_right(pack, before, since):
    early, later = {**AUTOMATED, "decided_at": before}, {**AUTOMATED, "decided_at": since}
    assert "not_in_force" in kinds(early, pack)
    assert "not_in_force" not in kinds(later, pack)
    locked = set(letter(later, pack)["rights"]) - set(packs()[pack].text("en").rights)
    content = letter(early, pack)
    assert locked
    assert not locked & set(content["rights"])
    assert (content["human_review_available"], content["how_to_request_inputs"], content["deadline_note"]) == (
        False,
        "",
        "",
    )
    assert "own_right" in kinds(early, pack, rights=letter(later, pack)["rights"])


def test_rights_of_a_later_law_are_not_missing():
    elements = results({**AUTOMATED, "decided_at": "2026-12-01"}, "us_co_admt")
    assert elements["human_review"][0] == elements["right_to_review"][0] == "not_applicable"
    assert results({**AUTOMATED, "decided_at": "2027-01-02"}, "us_co_admt")["right_to_review"][0] == "present"


def test_rights_that_the_record_offers_are_printed_before_the_law_applies():
    offered = {**AUTOMATED, "outcome": {**AUTOMATED["outcome"], "review": {"available": True}}}
    assert letter(offered, "us_co_admt")["human_review_available"] is True


def test_a_law_not_yet_in_force_is_printed_with_its_day():
    assert "from January 1, 2027" in letter(AUTOMATED, "us_co_admt")["framework"]
    assert "2027" not in letter({**AUTOMATED, "decided_at": "2027-01-01"}, "us_co_admt")["framework"]


@pytest.mark.parametrize("decided_at", [None, "", "21.11.2026", "yesterday", 20261121])
def test_a_decision_without_a_day_has_the_day_of_its_receipt(decided_at):
    record = {**AUTOMATED, "decided_at": decided_at}
    assert "not_in_force" in kinds(record, "us_co_admt")
    assert "not_in_force" in kinds(record, "eu_ccd2_18"), "it may be older than a new law"
    assert "not_in_force" not in kinds(record, "gdpr_22")
    assert "not_in_force" not in kinds(record, "general")


def test_earlier_laws_gave_the_same_rights_for_credit_and_health():
    early = {**AUTOMATED, "decided_at": "2021-05-01"}
    for pack in ("us_ecoa_fcra", "us_health_denial"):
        assert "not_in_force" in kinds(early, pack)
        assert len(letter(early, pack)["rights"]) == len(letter(AUTOMATED, pack)["rights"])


@pytest.mark.parametrize("involvement", ["reviewed_before_decision", "An officer saw the score and confirmed it."])
def test_a_person_whose_part_california_does_not_count_leaves_it_a_decision_of_the_system(involvement):
    approval = {"human_involvement": involvement, "meets_7001_e_1": False}
    warned = kinds({**about(solely_automated=False), "approval": approval}, "us_ca_admt")
    assert {"not_automated", "who_decided", "unknown_kind", "no_admt"}.isdisjoint(warned)
    counted = {**about(solely_automated=False), "approval": {**approval, "meets_7001_e_1": True}}
    assert "not_automated" in kinds(counted, "us_ca_admt")


def test_california_says_which_request_it_answers():
    asked = {**AUTOMATED, "events": {"access_request": {"received_at": "2027-01-05"}}}
    assert "Received at (access request): January 5, 2027." in statement_texts(
        letter(asked, "us_ca_admt"), "decision_summary"
    )
    assert results(asked, "us_ca_admt")["request_answered"][0] == "present"
    assert results(AUTOMATED, "us_ca_admt")["request_answered"][0] == "missing"


# ── odd records ──


@each_case("pack", sorted(packs()))
@each_case(
    "odd",
    [
        {"reconsiders": [], "approval": "a reviewer", "system": "yes"},
        {"reconsiders": 7, "approval": {"approver": {"a": []}, "human_involvement": ["x"]}},
        {"outcome": {"solely_automated": "no"}, "approval": [1], "subject": "DE"},
        {"outcome": "denied", "system": {"public_body": 1}, "decided_at": "9999-12-31T23:59:59-14:00"},
    ],
)
def test_odd_records_are_drafted_and_checked(pack, odd):
    language = packs()[pack].languages[0]
    record = json.loads(json.dumps({**AUTOMATED, **odd}))
    assert kinds(record, pack, language) == kinds(record, pack, language)


# ── notices from before the rule ──


@pytest.mark.django_db
def test_any_edit_fixes_a_draft_that_cites_the_law_for_automated_decisions(api):
    api.ingest(about(solely_automated=False))
    notice = drafted(api, "d-1", pack="gdpr_22")
    revision = NoticeRevision.objects.get()
    old = {**revision.content, "framework": packs()["gdpr_22"].text("en").framework}
    with unguarded():
        NoticeRevision.objects.update(content=old)
    Notice.objects.update(pack_version="2026.4", pack_digest="0" * 64)
    assert any("framework" in problem for problem in shown(api, notice)["problems"])
    edited = done(edit(api, notice))
    assert edited["content"]["framework"] == notice["content"]["framework"]
    assert edited["problems"] == []


@pytest.mark.django_db
def test_an_approved_notice_keeps_the_name_of_the_law_and_its_new_version_has_today_s(api):
    api.ingest(about(solely_automated=False))
    notice = drafted(api, "d-1", pack="gdpr_22")
    done(approve(api, notice, acknowledge=[warning["id"] for warning in notice["warnings"]]))
    sealed = "General Data Protection Regulation (GDPR), Articles 15 and 22"
    with unguarded():
        NoticeRevision.objects.update(content={**notice["content"], "framework": sealed})
    assert shown(api, notice)["content"]["framework"] == sealed
    assert done(step(api, notice, "versions"))["content"]["framework"] == notice["content"]["framework"]


@pytest.mark.django_db
def test_a_waived_element_is_not_warned_about(api):
    api.ingest(about(reasons=None))
    notice = drafted(api, "d-1", pack="uk_gdpr_22c")
    assert [warning["id"] for warning in notice["warnings"] if warning["id"].startswith("missing_element-")]
    waived = done(exempt(api, notice, reasons="They were given in March."))
    assert not [warning["id"] for warning in waived["warnings"] if warning["id"].startswith("missing_element-")]
