"""CSV files of lists."""

import csv
import io

import pytest
from django.contrib import admin
from django.urls import reverse

from accounts.back_office import list_csv
from accounts.models import AuditEvent
from accounts.roles import Role
from tests.accounts.belongings import Belongings
from tests.back_office.test_lists import DECISIONS, decide

pytestmark = pytest.mark.django_db


def lines(browser, path=DECISIONS, **query):
    """Return the lines of a list's file."""
    answer = browser.get(f"{path}csv/", query)
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8")
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_the_file_has_the_rows_order_and_words_of_the_list(api, signed_in):
    for number, action in enumerate(["not_denied", "denied", "not_denied"]):
        decide(api, f"loan-{number}", outcome={"action": action}, decided_at=f"2026-01-0{number + 1}T00:00:00Z")
    browser = signed_in(Role.AUDITOR)
    head, *rows = lines(browser, action="not_denied", o="received_at")
    assert head == ["Decision", "Current action", "System", "Subject", "Received", "Decided"]
    assert [row[:4] for row in rows] == [["loan-0", "Not denied", "", ""], ["loan-2", "Not denied", "", ""]]
    assert [row[5][:20] for row in rows] == ["2026-01-01T00:00:00.", "2026-01-03T00:00:00."]
    assert [row[0] for row in lines(browser, q="loan-1")[1:]] == ["loan-1"]


@pytest.mark.parametrize("start", "=+-@\t\r")
def test_a_spreadsheet_takes_no_cell_for_a_formula(api, signed_in, start):
    decide(api, f"{start}1+1", subject={"reference": f"{start}2"})
    (_, row) = lines(signed_in(Role.AUDITOR))
    cells = [cell for cell in row if cell.lstrip("'\t\r=+-@")[:1] in ("1", "2") and "T" not in cell]
    assert cells
    assert all(cell.startswith("'") or cell[0] not in "=+-@\t\r" for cell in cells)


def test_the_file_is_read_in_batches_and_ends_at_its_limit(api, signed_in, monkeypatch):
    for number in range(7):
        decide(api, f"loan-{number}")
    browser = signed_in(Role.AUDITOR)
    monkeypatch.setattr(list_csv, "_BATCH_ROWS", 2)
    assert len(lines(browser)) == 1 + 7
    monkeypatch.setattr(list_csv, "MAX_CSV_ROWS", 5)
    assert [row[0] for row in lines(browser)[1:]] == ["loan-6", "loan-5", "loan-4", "loan-3", "loan-2"]


def test_the_file_has_no_rows_of_another_organization(api, other_api, signed_in):
    decide(api, "ours")
    decide(other_api, "theirs")
    browser = signed_in(Role.OWNER)
    assert [row[0] for row in lines(browser)[1:]] == ["ours"]
    assert [row[0] for row in lines(browser, q="theirs")[1:]] == []


def test_the_audit_trail_keeps_who_took_which_list_without_what_they_searched_for(api, signed_in):
    decide(api, "secret-1", outcome={"action": "denied"})
    lines(signed_in(Role.AUDITOR, "auditor@bank.example"), q="secret", action="denied")
    event = AuditEvent.objects.get(verb="list.exported")
    assert (event.organization_id, event.actor_label) == (api.organization.pk, "auditor@bank.example")
    assert (event.object_kind, event.object_id) == ("list", "decisions")
    assert event.detail == {"filters": ["action"], "searched": True}


def test_only_a_get_request_gives_the_rows_and_is_recorded(api, signed_in):
    decide(api, "loan-1")
    browser = signed_in(Role.AUDITOR)
    answer = browser.head(f"{DECISIONS}csv/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert browser.post(f"{DECISIONS}csv/", {"csrfmiddlewaretoken": browser.csrf_token("/admin/")}).status_code == 405
    assert not AuditEvent.objects.filter(verb="list.exported").exists()
    lines(browser)
    assert AuditEvent.objects.filter(verb="list.exported").count() == 1


def test_each_list_has_a_file_for_the_roles_that_may_see_the_list(api, signed_in, subtests):
    Belongings(api).notice()
    browsers = {role: signed_in(role) for role in (Role.OWNER, Role.AUDITOR)}
    for model, pages in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        if not any(str(url.name).endswith("_csv") for url in pages.get_urls()):
            continue
        for role, browser in browsers.items():
            with subtests.test(name=name, role=role):
                list_status, file_status = (
                    browser.get(reverse(f"{name}_{page}")).status_code for page in ("changelist", "csv")
                )
                assert list_status == file_status
