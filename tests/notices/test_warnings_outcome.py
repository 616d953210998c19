"""Sentences about the outcome match the outcome they cite, or get a warning."""

from decisions.record import outcomes
from notices.warnings import outcome
from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, findings_of


def said(sentence: str, action: str, language: str = "en", path: str = "outcome.action") -> list[str]:
    record = {"decision_id": "d", "outcome": {path.rpartition(".")[2]: action}}
    items = [{"statement": sentence, "source": path}]
    return others(record, language, decision_summary=items)


def others(record: dict, language: str, **content: list[dict]) -> list[str]:
    """Return the places that state another outcome than the record."""
    findings = findings_of(outcome, record, "general", language, **content)
    return [finding.where for finding in findings if finding.kind == "other_outcome"]


@each_case(
    ("language", "action", "sentence"),
    [
        ("en", "denied", "Your application was approved."),
        ("en", "REJECTED", "We are glad that your claim was granted."),
        ("en", "denied", "Your application was not rejected."),
        ("en", "denied", "We have not decided yet."),
        ("en", "declined", "Your request is still pending."),
        ("en", "approved", "We could not approve your application."),
        ("en", "granted", "Your claim was denied."),
        ("en", "pending", "Your application was approved."),
        ("en", "manual_review", "We have refused your application."),
        ("en", "withdrawn", "Your application was accepted."),
        ("de", "denied", "Ihr Antrag wurde genehmigt."),
        ("de", "abgelehnt", "Wir haben noch nicht entschieden."),
        ("de", "approved", "Ihr Antrag wurde nicht bewilligt."),
        ("fr", "denied", "Votre demande a été acceptée."),
        ("fr", "refusée", "Votre demande n'a pas été refusée."),
        ("fr", "approved", "Nous n'avons pas encore décidé."),
    ],
)
def test_a_sentence_that_says_the_opposite_of_the_outcome_is_named(language, action, sentence):
    assert said(sentence, action, language) == ["decision_summary.0"]


@each_case(
    ("language", "action", "sentence"),
    [
        ("en", "denied", "Your application was not approved."),
        ("en", "denied", "We are unable to grant your request."),
        ("en", "denied", "Your offer was accepted by others, so we declined yours."),
        ("en", "denied", "You were not chosen."),
        ("en", "denied", "This was not decided by a machine alone."),
        ("en", "approved", "The earlier refusal no longer applies: we approved your claim."),
        ("en", "partially_approved", "We approved a part and denied the rest."),
        ("en", "pending", "Your application has not been decided yet."),
        ("en", "not_denied", "Your application was approved."),
        ("de", "denied", "Ihr Antrag wurde nicht genehmigt."),
        ("fr", "denied", "Votre demande n'a pas été acceptée."),
    ],
)
def test_a_sentence_that_paraphrases_the_outcome_is_not_warned_about(language, action, sentence):
    assert said(sentence, action, language) == []


OF_EACH_MEANING = {meaning: word for word, meaning in outcomes._table().items()}.values()


@each_case(("turn", "language"), enumerate(LANGUAGES))
def test_no_draft_says_another_outcome_than_its_own(turn, language):
    """Each word is in one language, and one word of each meaning in all languages, in turn at each path."""
    words = {*OF_EACH_MEANING, *list(outcomes._table())[turn :: len(LANGUAGES)]}
    for number, word in enumerate(sorted(words), start=turn):
        path = outcomes.PATHS[number % len(outcomes.PATHS)]
        record = {"decision_id": "d", "outcome": {path.rpartition(".")[2]: word}}
        assert others(record, language) == []
