"""Words for people, from codes."""

from django.utils.safestring import mark_safe

from config.words import codes_marked, in_words
from tests.cases import each_case

UUID = "8a6e0804-2bd0-4672-b79d-d97027f9071a"


@each_case(
    ("text", "marked"),
    [
        ("It was not_denied.", "It was <code>not_denied</code>."),
        (f"reconsideration-{UUID}", f"<code>reconsideration-{UUID}</code>"),
        ("The source events.0.score leads nowhere.", "The source <code>events.0.score</code> leads nowhere."),
        ("subject.reference of it", "<code>subject.reference</code> of it"),
        ("<b>a_b</b> & more", "&lt;b&gt;<code>a_b</code>&lt;/b&gt; &amp; more"),
        ("It ends. Write to help@demo.example.", "It ends. Write to help@demo.example."),
        ("12 CFR 1002.9(a)(1)(i), decided-2026", "12 CFR 1002.9(a)(1)(i), decided-2026"),
        (mark_safe("<a>a_b</a>"), "<a>a_b</a>"),
        (12, "12"),
    ],
)
def test_codes_ids_and_paths_are_marked_and_the_others_are_escaped(text, marked):
    assert codes_marked(text) == marked


@each_case(("code", "words"), [("not_denied", "Not denied"), ("invite.created", "Invite created"), ("A b", "A b")])
def test_a_code_is_said_in_words_and_other_text_stays(code, words):
    assert in_words(code) == words
