"""The history of a notice comes page by page, and no page reads the words of all revisions."""

import base64
import tracemalloc

import pytest
from django.utils import timezone

from accounts.roles import Role
from notices.back_office import history
from notices.models import NoticeRevision, Step
from tests.cases import each_case
from tests.notices.conftest import approve, done, edit, exempt, shown, step
from tests.notices.test_back_office import page
from tests.statements import statements
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

MANY = 200


def pages(api, notice, **query) -> list[dict]:
    """Return every page of the history, in order."""
    parts, cursor = [], ""
    while cursor is not None:
        parts.append(done(api.get(f"/v1/notices/{notice['notice_id']}/history", cursor=cursor, **query)))
        cursor = parts[-1]["next_cursor"]
    return parts


def all_of(parts: list[dict], name: str) -> list[dict]:
    return [entry for part in parts for entry in part[name]]


def revise(api, notice, count: int, words: str = "") -> None:
    """Add `count` revisions at once, as years of edits would."""
    first = NoticeRevision.objects.get(number=1)
    content = first.content | ({"deadline_note": words} if words else {})
    NoticeRevision.objects.bulk_create(
        NoticeRevision(
            notice=first.notice,
            number=number,
            content=content,
            digest=first.digest,
            cited=first.cited,
            author_kind="key",
            author_id="x",
            author_label=f"editor {number}",
        )
        for number in range(2, count + 1)
    )


@pytest.fixture
def long(api, notice) -> dict:
    revise(api, notice, MANY)
    return notice


def test_each_revision_and_step_is_on_one_page_oldest_first(api, notice, signed_in):
    reviewer = signed_in(Role.APPROVER)
    for number in range(2, 6):
        done(edit(api, notice, title=str(number)))
        for _ in range(2):
            done(step(api, notice, "submit"))
            done(step(reviewer, notice, "request-changes", {"reason": "Once more."}))
    for limit in (1, 3, 50):
        parts = pages(api, notice, limit=limit)
        assert [revision["revision"] for revision in all_of(parts, "revisions")] == list(range(1, 6))
        assert [entry["kind"] for entry in all_of(parts, "steps")] == ["submitted", "changes_requested"] * 8
        assert all(max(len(part["revisions"]), len(part["steps"])) <= limit for part in parts)


def test_a_short_history_is_one_page_as_it_ever_was(api, approved):
    answer = shown(api, approved, "/history")
    assert (len(answer["revisions"]), answer["steps"], answer["next_cursor"]) == (1, [], None)


def test_entries_added_while_paging_come_at_the_end(api, notice):
    for number in range(3):
        done(edit(api, notice, title=str(number)))
    path = f"/v1/notices/{notice['notice_id']}/history"
    first = done(api.get(path, limit=2))
    done(edit(api, notice, title="meanwhile"))
    second = done(api.get(path, limit=50, cursor=first["next_cursor"]))
    assert [revision["revision"] for revision in second["revisions"]] == [3, 4, 5]


@each_case(
    ("name", "value"),
    [("limit", "0"), ("limit", "51"), ("cursor", "x"), ("cursor", "WzFd"), ("cursor", "WyJhIiwiYiJd"), ("page", "2")],
)
def test_an_invalid_page_is_refused(api, notice, name, value):
    answer = api.get(f"/v1/notices/{notice['notice_id']}/history", **{name: value})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", name])


@each_case("made_up", ["[0, -1]", "[true, 0]", "[0, 99999999999999999999]", "[0]", "{}", "[[], []]", "["])
def test_a_cursor_that_was_made_up_is_refused(api, notice, made_up):
    cursor = base64.urlsafe_b64encode(made_up.encode()).decode()
    assert api.get(f"/v1/notices/{notice['notice_id']}/history", cursor=cursor).status_code == 422


def test_a_long_history_takes_as_many_queries_a_page_as_a_short_one(api, notice):
    def queries() -> int:
        with statements() as made:
            done(api.get(f"/v1/notices/{notice['notice_id']}/history"))
        return len(made)

    queries()  # warms the caches of the process
    few = queries()
    revise(api, notice, MANY)
    assert queries() == few


def memory(ask) -> int:
    tracemalloc.start()
    try:
        ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_page_reads_the_words_of_all_revisions(api, notice, signed_in):
    """Each revision has 15 kB of words: all of them would be 6 MB."""
    revise(api, notice, 400, "words " * 2500)
    notice_id, browser = notice["notice_id"], signed_in(Role.APPROVER)
    asked = {
        "notice": lambda: api.get(f"/v1/notices/{notice_id}"),
        "history": lambda: api.get(f"/v1/notices/{notice_id}/history", limit=1),
        "letter": lambda: api.get(f"/v1/notices/{notice_id}/letter", format="text"),
        "edit": lambda: edit(api, notice, title="New"),
        "page": lambda: browser.get(page(notice)),
        "compare": lambda: browser.get(page(notice, "compare-notice")),
        "approve": lambda: done(approve(api, notice)),
    }
    for name, ask in asked.items():
        ask()
        if name != "approve":
            assert memory(ask) < 4_000_000, name


# ── in the back office ──


def shown_lines(browser, address: str) -> tuple[list[str], str | None]:
    """Return the lines of a history page, and the address of the page before it."""
    text = browser.get(address).content.decode()
    part = text.partition('id="notice-history-title"')[2]
    lines = part.partition("</ol>")[0].split("<li>")[1:]
    earlier = part.partition('">Earlier</a>')
    return lines, earlier[0].rpartition('href="')[2].replace("&amp;", "&") if earlier[1] else None


def test_the_history_page_repeats_no_entry_across_pages(api, long, signed_in):
    browser, address, pages_seen = signed_in(Role.EDITOR), page(long), []
    while address:
        lines, address = shown_lines(browser, address)
        assert len(lines) <= history.A_PAGE
        pages_seen = [*lines, *pages_seen]
    assert len(pages_seen) == MANY
    assert "drafted it" in pages_seen[0]
    assert all(f"revision {number}\n" in line for number, line in enumerate(pages_seen[1:], start=2))


def test_entries_of_one_moment_are_shown_once_across_pages(api, notice, signed_in):
    revise(api, notice, 120)
    first = NoticeRevision.objects.get(number=1)
    steps = (Step(notice=first.notice, revision=first, kind="submitted", actor_label=str(n)) for n in range(120))
    Step.objects.bulk_create(steps)
    now = timezone.now()
    Step.objects.update(created_at=now)
    with unguarded():
        NoticeRevision.objects.update(created_at=now)
    browser, address, pages_seen = signed_in(Role.EDITOR), page(notice), []
    while address:
        lines, address = shown_lines(browser, address)
        pages_seen += lines
    assert (len(pages_seen), len(set(pages_seen))) == (240, 240)


@pytest.mark.parametrize("cursor", ["x", "2026-01-01_0_1", "2026-13-01T00:00:00+00:00_0_1", "2026-01-01T00:00:00_0_1"])
def test_a_made_up_place_in_the_history_is_the_newest_page(notice, signed_in, cursor):
    lines, earlier = shown_lines(signed_in(Role.EDITOR), f"{page(notice)}?before={cursor}")
    assert (len(lines), earlier) == (1, None)


def test_an_edit_leads_to_what_it_changed(api, notice, signed_in):
    for title in ("Second", "Third", "Fourth"):
        done(edit(api, notice, title=title))
    browser = signed_in(Role.EDITOR)
    lines, _ = shown_lines(browser, page(notice))
    link = lines[2].partition('href="')[2].partition('"')[0]
    changed = browser.get(link).content.decode()
    assert "<del>Second</del>" in changed
    assert "<ins>Third</ins>" in changed


def test_the_newest_and_the_shown_revisions_can_be_compared(api, long, signed_in):
    text = signed_in(Role.EDITOR).get(f"{page(long, 'compare-notice')}?a=7&b=190").content.decode()
    assert text.count("<option") == 2 * 101
    assert '<option value="7" selected>' in text
    assert '<option value="190" selected>' in text


def test_reasons_of_waivers_are_in_the_history(api, notice, signed_in):
    done(exempt(api, notice, inputs="None were used."))
    assert "None were used." in "".join(shown_lines(signed_in(Role.EDITOR), page(notice))[0])


def test_a_page_of_long_revisions_is_bounded_by_their_size_and_none_is_left_out(api, notice):
    revise(api, notice, 12, "x" * 1_000_000)
    parts = pages(api, notice)
    assert max(len(part["revisions"]) for part in parts) == 5
    assert [revision["revision"] for revision in all_of(parts, "revisions")] == list(range(1, 13))
