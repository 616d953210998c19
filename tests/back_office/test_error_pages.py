"""Error pages: our own pages for people, and JSON under /v1."""

import pytest
from django.test import Client

from accounts.roles import Role
from notices import selectors
from tests.people import Browser

pytestmark = pytest.mark.django_db
CANARY = "canary-77aa"


def is_ours(answer):
    shown = answer.content.decode()
    return "drs/page.css" in shown and "To the back office" in shown and CANARY not in shown


def test_a_meaningless_query_is_a_400_with_our_page(signed_in):
    answer = signed_in(Role.OWNER).get("/admin/decisions/decision/", {"nonsense": CANARY})
    assert answer.status_code == 400
    assert is_ours(answer)
    assert "This request was not understood" in answer.content.decode()


def test_a_forbidden_page_is_a_403_with_the_reason(signed_in):
    browser = signed_in(Role.EDITOR)
    read = browser.get("/admin/accounts/member/")
    posted = browser.submit("/account/sessions/", "/admin/accounts/invite/invite/")
    for answer in (read, posted):
        assert answer.status_code == 403
        assert is_ours(answer)
        assert "You are not allowed to do this" in answer.content.decode()
    assert "Your role, editor, may not" in posted.content.decode()


def test_an_expired_form_is_a_403_with_our_page(signed_in):
    for browser in (signed_in(Role.OWNER), Browser()):
        answer = browser.post("/sign-in/", {"email": CANARY})
        assert answer.status_code == 403
        assert is_ours(answer)
        assert "The form was not sent" in answer.content.decode()


def test_an_unknown_address_is_a_404_with_our_page():
    answer = Client().get(f"/{CANARY}/")
    assert answer.status_code == 404
    assert is_ours(answer)


def test_a_fault_is_a_500_with_our_page(monkeypatch, signed_in):
    def fails(*arguments):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(selectors, "published", fails)
    answer = Browser().get("/n/aaaaaaaaaaaa")
    assert answer.status_code == 500
    assert is_ours(answer)


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/decisions/%00"])
def test_every_error_under_v1_is_json(path):
    answer = Client().get(path)
    assert answer.status_code >= 400
    assert set(answer.json()) == {"detail"}
