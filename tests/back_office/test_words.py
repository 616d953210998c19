"""Words of the back office: pages show no codes, ids or names of models outside `code` and fields."""

import re
from collections import Counter, deque
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from django.apps import apps

from accounts import demo
from accounts.models import AuditEvent, User
from decisions import samples
from notices.models import Notice
from tests.browser.walk import shape
from tests.people import Browser, signed_in
from tests.reconsiderations.conftest import REVIEW

pytestmark = pytest.mark.django_db
_MORTGAGES = 60
_MAX_OF_A_SHAPE = 2  # pages of one shape, which differ in their rows
_NO_FILTERS = {"_changelist_filters", "at", "before", "o", "p", "all", "page", "by"}
_HIDDEN = {"code", "pre", "script", "style", "kbd", "textarea", "datalist", "output"}  # the last are values of fields
_VOID = {"input", "img", "br", "hr", "link", "meta", "path", "rect", "circle"}
_NAMES = [model.__name__ for model in apps.get_models() if re.search("[a-z][A-Z]", model.__name__)]
_MODELS = "|".join([*_NAMES, *map(str.capitalize, _NAMES)])
REFUSED = {
    "an id": r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    "a code": r"(?<![@./\w-])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?![@\w])",
    "a path": r"\b(?:events|outcome|approval|subject|system)\.\w[\w.]*",
    "a model": rf"\b(?:{_MODELS}|[Ii]ndex rows?|[Ss]torage targets?)\b",
}


class _Text(HTMLParser):
    """The visible text of a page, without that in `code` and in fields, and its links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.links: list[str] = []
        self._hiding: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (link := dict(attributes).get("href")):
            self.links.append(link)
        if tag not in _VOID and (tag in _HIDDEN or self._hiding):
            self._hiding.append(tag)
        elif tag not in ("b", "strong", "em", "bdi", "span", "mark", "time", "a"):
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._hiding and tag == self._hiding[-1]:
            self._hiding.pop()

    def handle_data(self, data: str) -> None:
        if not self._hiding:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"[ \t\n]*\n\s*", "\n", "".join(self.parts))


def refusals(page: str) -> set[str]:
    """Return what a page says that is no word, each with some text around it."""
    text = _Text(page).text
    events = "|".join(map(re.escape, sorted({*AuditEvent.objects.values_list("verb", flat=True)})))
    rules = REFUSED | ({"an event": rf"(?<![\w.])(?:{events})(?![\w.])"} if events else {})
    matches = ((name, match) for name, rule in rules.items() for match in re.finditer(rule, text))
    return {f"{name}: {text[max(0, match.start() - 30) : match.end() + 20]!r}" for name, match in matches}


def walk(browser: Browser, *begin: str):
    """Yield each page of the back office that links reach, with its address: each filter of a list alone, and some of
    the pages that differ in their rows alone."""
    waiting, known, shapes = deque(begin), set(begin), Counter()
    while waiting:
        path = waiting.popleft()
        answer = browser.get(path, follow=True)
        if not answer["Content-Type"].startswith("text/html"):
            continue
        assert answer.status_code == 200, path
        page = answer.content.decode()
        yield path, page
        for link in _Text(page).links:
            address = urlsplit(urljoin(path, link))
            target = f"{address.path}?{address.query}" if address.query else address.path
            if address.netloc or not target.startswith("/admin/") or target in known:
                continue
            query = parse_qsl(address.query)
            is_filter = len(query) == 1 and query[0][0] not in _NO_FILTERS
            if not query:
                shapes[shape(target)] += 1
            is_new = not query and shapes[shape(target)] <= _MAX_OF_A_SHAPE and not target.endswith("/letter/")
            if is_new or is_filter:
                known.add(target)
                waiting.append(target)


@pytest.fixture
def owner(settings, tmp_path, monkeypatch) -> Browser:
    """Return the browser of the owner of a demo with fewer mortgages, who has filled the lists it leaves empty."""
    mortgages = list(samples.mortgage_records())[-samples.EXPORTED - _MORTGAGES :]
    monkeypatch.setattr(samples, "mortgage_records", lambda: mortgages)
    settings.DATA_DIR, settings.IMPORTS_DIR = tmp_path, tmp_path / "imports"
    settings.CONNECTOR_DIRECTORIES = [str(tmp_path / "imports")]
    demo.prepare()
    browser = signed_in(User.objects.get(email=demo.OWNER))
    decision = "synthetic-insurance-01"
    sent = [
        browser.call("POST", f"/v1/decisions/{decision}/reconsideration", REVIEW),
        browser.call("POST", "/v1/auth/invites", {"email": "invited@demo.example", "role": "editor"}),
        browser.call("PUT", "/v1/retention", {"days": 365, "note": "By our schedule of records."}),
        browser.call("POST", "/v1/retention/holds", {"matter": "A", "reason": "B", "decision_id": decision}),
    ]
    assert [answer.status_code for answer in sent] == [201, 201, 200, 201]
    return browser


@pytest.mark.once
def test_pages_say_words_and_no_codes_ids_or_names_of_models(owner):
    notices = [f"/admin/notices/notice/{pk}/change/" for pk in Notice.objects.values_list("pk", flat=True)]
    refused = {path: refusals(page) for path, page in walk(owner, "/admin/", *notices)}
    assert [f"{path} says {word}" for path, words in refused.items() for word in sorted(words)] == []
    assert {shape(path) for path in refused} >= {
        "/admin/decisions/decision/N/change/", "/admin/notices/noticesettings/", "/admin/retention/policy/",
        "/admin/accounts/auditevent/N/change/", "/admin/connectors/connector/N/change/",
    }  # fmt: skip


@pytest.mark.parametrize("code", ["us_ecoa_fcra", "not_denied", "outcome.action", "AuditEvent", "index row",
                                  "8a6e0804-2bd0-4672-b79d-d97027f9071a"])  # fmt: skip
def test_a_code_is_refused_in_text_and_accepted_in_code(code):
    assert refusals(f"<p>It is {code} now.</p>")
    assert not refusals(f"<p>It is <code>{code}</code> now.</p><input value='{code}'>")
