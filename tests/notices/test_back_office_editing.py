"""The edit form of a notice, sent as a browser without scripts sends it: untouched fields keep their values."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from accounts.roles import Role
from notices.back_office import editing
from notices.back_office.review_page import SECTIONS
from notices.models import Notice, NoticeRevision
from tests.cases import each_case
from tests.notices.conftest import RECORD, approve, done, drafted, edit, exempt
from tests.notices.test_back_office import page

pytestmark = pytest.mark.django_db

ODD = "  Zwei  Leerzeichen,\nein Umbruch, <b>Auszeichnung</b> & \u202eschräg\u202c 😀 "
SOURCE = "outcome.action"


class _Form(HTMLParser):
    """Fields of the form `.edit-notice`, as a browser without scripts would send them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.inside = self.in_template = False
        self.area = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self.inside = "edit-notice" in (attributes.get("class") or "")
        if tag == "template":
            self.in_template = True
        if not self.inside or self.in_template or not attributes.get("name"):
            return
        if tag == "textarea":
            self.area = str(attributes["name"])
            self.fields[self.area] = ""
        elif attributes.get("type") != "checkbox" or "checked" in attributes:
            self.fields[str(attributes["name"])] = attributes.get("value") or (
                "on" if attributes.get("type") == "checkbox" else ""
            )

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self.in_template = False
        if tag == "textarea":
            # Browsers drop the line end after the tag, and send the others as CRLF.
            value = self.fields.get(self.area, "").removeprefix("\n").replace("\n", "\r\n")
            if self.area:
                self.fields[self.area] = value
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data


@pytest.fixture
def editor(signed_in):
    return signed_in(Role.EDITOR)


def form(browser, notice) -> dict[str, str]:
    return _Form(browser.get(page(notice, "edit-notice")).content.decode()).fields


def save(browser, notice, **changes: Any) -> Any:
    """Open the form, change some fields, and send it. In names, `__` is a dash."""
    fields = {name.replace("__", "-"): value for name, value in changes.items()}
    return browser.post(page(notice, "edit-notice"), {**form(browser, notice), **fields})


def last() -> NoticeRevision:
    return NoticeRevision.objects.order_by("number").last()


def items(*statements: str) -> list[dict[str, str]]:
    return [{"statement": statement, "source": SOURCE} for statement in statements]


def said(section: str = "main_factors") -> list[str]:
    return [item["statement"] for item in last().content[section]]


def test_a_form_sent_as_it_was_opened_changes_nothing(api, notice, editor):
    content = {
        "title": "Title “so”",
        "main_factors": items(ODD, "Same.", "Same."),
        "inputs_used": [{"statement": "Ünicode.", "source": 'events."a.b\\"c".0'}],
        "rights": ["One right,\non two lines.", "Another  right."],
        "how_to_request_inputs": "First line.\nSecond line.",
        "human_review_available": True,
    }
    done(edit(api, notice, **content))
    answer = save(editor, notice)
    assert (answer.status_code, last().number) == (302, 2)
    assert "Nothing was changed." in editor.get(page(notice)).content.decode()


def test_a_form_sent_as_it_was_opened_adopts_a_pack_that_has_changed(notice, editor):
    Notice.objects.update(pack_version="2020.1", pack_digest="0" * 64)  # as if written before an upgrade
    assert save(editor, notice).status_code == 302
    assert "Saved as revision 2." in editor.get(page(notice)).content.decode()
    assert Notice.objects.get().pack_version == notice["pack_version"]


def test_untouched_fields_keep_their_values_beside_changed_ones(api, notice, editor):
    done(edit(api, notice, main_factors=items(ODD, "Old."), rights=["On\ntwo lines.", "Another."]))
    before = last().content
    assert save(editor, notice, main_factors__1__statement="New.").status_code == 302
    assert last().content == {**before, "main_factors": items(ODD, "New.")}
    assert last().author_label == "editor@example-bank.example"


def test_sentences_are_added_in_the_empty_line(notice, editor):
    before = said()
    place = len(before)
    changes = {f"main_factors__{place}__statement": "  One \r\n more. ", f"main_factors__{place}__source": SOURCE}
    assert save(editor, notice, **changes).status_code == 302
    assert said() == [*before, "One more."]


def test_sentences_are_moved_by_the_numbers_of_their_places(api, notice, editor):
    done(edit(api, notice, main_factors=items("a", "b", "c")))
    save(editor, notice, main_factors__0__ORDER="9", main_factors__2__ORDER="1")
    assert said() == ["c", "b", "a"]


def test_sentences_of_one_place_keep_their_order_and_those_without_come_last(api, notice, editor):
    done(edit(api, notice, main_factors=items("a", "b", "c", "d")))
    save(editor, notice, main_factors__0__ORDER="", main_factors__1__ORDER="2", main_factors__2__ORDER="2")
    assert said() == ["b", "c", "d", "a"]


def test_sentences_are_removed_by_their_boxes_or_by_emptying_them(api, notice, editor):
    done(edit(api, notice, main_factors=items("a", "b", "c")))
    save(editor, notice, main_factors__0__DELETE="on", main_factors__1__statement="", main_factors__1__source="")
    assert said() == ["c"]


def test_unfinished_lines_can_be_saved(api, notice, editor):
    done(edit(api, notice, main_factors=items("a")))
    save(editor, notice, main_factors__0__source="no.such.field")
    assert last().content["main_factors"] == [{"statement": "a", "source": "no.such.field"}]
    assert "The source no.such.field leads nowhere in the record." in editor.get(page(notice)).content.decode()


def test_markup_is_shown_as_text_and_kept_as_it_is(api, notice, editor):
    wild = '</textarea><script>alert(1)</script>"{{ 1 }}'
    done(edit(api, notice, main_factors=[{"statement": wild, "source": wild}], title=wild, rights=[wild]))
    assert "<script>alert" not in editor.get(page(notice, "edit-notice")).content.decode()
    save(editor, notice, deadline_note="Changed.")
    content = last().content
    assert (content["main_factors"], content["title"], content["rights"]) == (
        [{"statement": wild, "source": wild}], wild, [wild],
    )  # fmt: skip


def test_three_hundred_sentences_are_edited_as_three_are(api, notice, editor):
    done(edit(api, notice, inputs_used=items(*(f"Sentence {n}." for n in range(300)))))
    save(editor, notice, inputs_used__299__ORDER="0", inputs_used__150__statement="Changed.")
    assert said("inputs_used")[:2] == ["Sentence 299.", "Sentence 0."]
    assert said("inputs_used")[151] == "Changed."
    assert len(said("inputs_used")) == 300


MANY = editing.PAGE_SENTENCES


def test_sentences_of_a_long_section_are_edited_page_by_page(api, notice, editor):
    before = [f"Sentence {n}." for n in range(2 * MANY + 1)]
    done(edit(api, notice, inputs_used=items(*before), main_factors=items("Short.")))
    address = f"{page(notice, 'edit-notice')}?page=2"
    body = editor.get(address).content.decode()
    fields = _Form(body).fields
    assert fields["inputs_used-0-statement"] == f"Sentence {MANY}."
    assert fields["inputs_used-TOTAL_FORMS"] == str(MANY + 1)
    assert "main_factors-TOTAL_FORMS" not in fields, "all of its sentences are on the first page"
    assert '<a href="?page=3">' in body
    answer = editor.post(address, {**fields, "inputs_used-1-statement": "Changed.", "inputs_used-0-DELETE": "on"})
    assert answer.status_code == 302
    assert said("inputs_used") == [*before[:MANY], "Changed.", *before[MANY + 2 :]]
    assert said() == ["Short."]


def test_a_page_of_sentences_that_moved_meanwhile_replaces_those_it_showed(api, notice, editor):
    before = [f"Sentence {n}." for n in range(MANY + 10)]
    done(edit(api, notice, inputs_used=items(*before)))
    address = f"{page(notice, 'edit-notice')}?page=2"
    opened = _Form(editor.get(address).content.decode()).fields
    done(edit(api, notice, inputs_used=items(*before[20:])))  # the second page is gone
    answer = editor.post(address, {**opened, "inputs_used-0-statement": "Mine."})
    assert answer.status_code == 409
    assert editor.post(address, _Form(answer.content.decode()).fields).status_code == 302
    assert said("inputs_used") == [*before[:MANY], "Mine.", *before[MANY + 1 :]]


def test_a_form_that_does_not_name_its_page_of_several_saves_nothing(api, notice, editor):
    done(edit(api, notice, inputs_used=items(*(f"Sentence {n}." for n in range(MANY + 1)))))
    fields = form(editor, notice)
    for number in ("", "0", "3", "x"):
        answer = editor.post(page(notice, "edit-notice"), {**fields, "title": "Mine", "page": number})
        assert (answer.status_code, last().number) == (422, 2)


def test_the_page_grows_neither_with_all_sentences_nor_with_sentences_times_values(api, notice, editor):
    def size(count: int, source: str) -> int:
        statements = [{"statement": f"Sentence {n}.", "source": source} for n in range(count)]
        done(edit(api, notice, inputs_used=statements))
        return len(editor.get(page(notice, "edit-notice")).content)

    done(api.ingest(RECORD | {"decision_id": "long", "events": {"application": {"text": "a " * 5000}}}))
    one, full = size(1, SOURCE), size(MANY, SOURCE)
    assert size(4 * MANY, SOURCE) < full * 1.1
    assert full - one < 1200 * MANY
    notice = drafted(api, "long")
    assert size(MANY, "events.application.text") < full + 400 * MANY


def test_each_source_is_shown_with_its_value(api, notice, editor):
    sources = ["events.application.loan_to_value", "events.moon", "events.application.self_employed"]
    done(edit(api, notice, main_factors=[{"statement": "x", "source": source} for source in sources]))
    body = editor.get(page(notice, "edit-notice")).content.decode()
    values = [unescape(output) for output in re.findall(r'<output for="id_main_factors-\d-source">([^<]*)', body)]
    assert values == ["0.92", "leads nowhere in the record", "false", ""]
    offered = dict(re.findall(r'<option value="([^"]*)">([^<]*)</option>', body))
    assert offered["events.application.loan_to_value"] == "0.92"
    assert offered["outcome.action"] == "denied"


def test_exemptions_are_shown_kept_changed_and_taken_back(api, notice, editor):
    element = notice["elements"][0]["id"]
    done(exempt(api, notice, **{element: "Not asked for."}))
    assert "Not asked for." in editor.get(page(notice, "edit-notice")).content.decode()
    save(editor, notice, title="Changed")
    assert last().not_applicable == {element: "Not asked for."}
    save(editor, notice, **{f"exempt__{element}": "Another reason."})
    assert last().not_applicable == {element: "Another reason."}
    assert "Another reason." in editor.get(page(notice)).content.decode()
    save(editor, notice, **{f"exempt__{element}": " "})
    assert last().not_applicable == {}


def test_an_exemption_that_is_too_long_is_refused_at_its_field(notice, editor):
    element = notice["elements"][0]["id"]
    answer = save(editor, notice, title="Typed", **{f"exempt__{element}": "x" * 4001})
    body = answer.content.decode()
    assert (answer.status_code, last().number) == (422, 1)
    assert f'id="id_exempt-{element}_error">Ensure this value has at most 4000 characters' in body
    assert '<details class="exemptions" open>' in body
    assert 'value="Typed"' in body


@each_case(
    "changes",
    [
        {"main_factors__TOTAL_FORMS": "x"},
        {"main_factors__TOTAL_FORMS": "9999"},
        {"main_factors__0__ORDER": "first"},
        {"title": "a\x00b"},
    ],
)
def test_a_broken_form_is_refused_and_nothing_typed_is_lost(notice, editor, changes):
    answer = save(editor, notice, deadline_note="Typed in vain?", **changes)
    assert (answer.status_code, last().number) == (422, 1)
    assert "Nothing is saved yet" in answer.content.decode()
    assert "Typed in vain?" in answer.content.decode()


def test_an_edit_conflict_is_shown_and_keeps_the_typed_words(api, notice, editor):
    opened = form(editor, notice)
    done(edit(api, notice, title="Theirs", deadline_note="Theirs too."))
    address = page(notice, "edit-notice")
    answer = editor.post(address, {**opened, "title": "Mine"})
    body = answer.content.decode()
    assert (answer.status_code, last().content["title"]) == (409, "Theirs")
    assert "The notice has changed since you opened it: it is at revision 2." in body
    assert "?a=1&amp;b=2" in body, "what was changed meanwhile"
    again = _Form(body).fields
    assert (again["title"], again["revision"]) == ("Mine", "2")
    assert editor.post(address, again).status_code == 302
    assert (last().number, last().content["title"], last().content["deadline_note"]) == (
        3, "Mine", opened["deadline_note"],
    )  # fmt: skip


def test_an_edit_of_a_notice_approved_meanwhile_keeps_the_typed_words(api, notice, editor):
    opened = form(editor, notice)
    done(approve(api, notice))
    answer = editor.post(page(notice, "edit-notice"), {**opened, "title": "Mine"})
    assert answer.status_code == 409
    assert "The notice is approved. What you typed is not saved." in answer.content.decode()
    assert _Form(answer.content.decode()).fields["title"] == "Mine"
    answer = editor.get(page(notice, "edit-notice"))
    assert (answer.status_code, "The notice is approved." in answer.content.decode()) == (409, True)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_has_its_lines(notice, editor, section):
    fields = form(editor, notice)
    assert f"{section}-0-statement" in fields
    assert int(fields[f"{section}-TOTAL_FORMS"]) == len(notice["content"][section]) + 1


# ── compare ──


def test_two_revisions_are_compared_word_by_word(api, notice, editor):
    done(edit(api, notice, main_factors=items("The loan is too large.", "Kept."), title="One"))
    done(edit(api, notice, main_factors=items("The loan is far too large.", "Kept."), title="Two"))
    body = editor.get(page(notice, "compare-notice"), {"a": "2", "b": "3"}).content.decode()
    assert "<del>One</del><ins>Two</ins>" in body
    assert re.search(r"The loan is ?<ins> ?far ?</ins> ?too large\.", body)
    assert "<del>Kept" not in body
    same = editor.get(page(notice, "compare-notice"), {"a": "2", "b": "2"}).content.decode()
    assert "These revisions are identical." in same


def test_a_comparison_shows_equal_lines_only_beside_a_change(api, notice, editor):
    before = [f"Sentence {n}." for n in range(50)]
    done(edit(api, notice, inputs_used=items(*before)))
    done(edit(api, notice, inputs_used=items(*before[:25], "Changed.", *before[26:])))
    body = editor.get(page(notice, "compare-notice")).content.decode()
    assert body.count("lines are the same.") == 2
    shown = [number for number in range(50) if f"Sentence {number}. [" in body or f">Sentence {number}." in body]
    assert shown == [0, 1, 23, 24, 25, 26, 27, 48, 49] or shown == [0, 1, 23, 24, 26, 27, 48, 49]
    assert "Changed." in body


@each_case("asked", [{}, {"a": "0", "b": "99"}, {"a": "x", "b": "\x00"}])
def test_an_unknown_revision_compares_the_last_two(api, notice, editor, asked):
    done(edit(api, notice, title="New"))
    body = editor.get(page(notice, "compare-notice"), asked).content.decode()
    assert "<ins>New</ins>" in body
