"""Four-eyes guards: an owner changes them with a second factor, and loosening one takes a day."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts import callers, tasks
from accounts import selectors as accounts
from accounts.callers import Caller
from accounts.four_eyes import LOOSENING_DELAY
from accounts.models import Member, Organization
from accounts.roles import Role
from accounts.services import require_second_factor, second_factor
from accounts.services.guards import OwnersGuard
from config.errors import NotAllowed
from notices import services
from notices.models import NoticeSettings
from notices.selectors import settings_of
from tests.cases import each_case
from tests.notices.conftest import approve, done, refused, send
from tests.people import add_person, confirmed, events
from tests.threads import at_once

pytestmark = pytest.mark.django_db

STRICT = {"require_grants": True, "require_other_key": True, "require_acknowledged": True, "default_pack": "gdpr_22"}
LOOSE = {"require_grants": False, "require_other_key": False, "require_acknowledged": False, "default_pack": "general"}
PAGE = "/admin/notices/noticesettings/"


def owner(organization: Organization, **changes: Any) -> Caller:
    """Return the caller of an owner with an authenticator app."""
    member = Member.objects.get(organization=organization, role=Role.OWNER, user__email="owner@bank.example")
    return accounts.caller(member, **({"has_second_factor": True} | changes))


@pytest.fixture
def strict(api) -> NoticeSettings:
    """Return the settings of an organization with every guard."""
    return services.change_settings(caller=owner(api.organization), **STRICT)


def values(row: NoticeSettings) -> dict[str, Any]:
    return {guard: getattr(row, guard) for guard in STRICT}


def test_a_key_of_any_role_neither_tightens_nor_loosens_a_guard(api, api_for):
    for role in (Role.OWNER, Role.ADMIN):
        for guard in ("require_grants", "require_other_key", "require_acknowledged"):
            answer = send(api_for(api.organization, role), "PUT", "notice-settings", {guard: True})
            assert answer.status_code == 403
            assert "An API key changes no safeguard" in answer.json()["detail"]
    assert values(settings_of(api.organization.pk)) == LOOSE
    services.change_settings(caller=owner(api.organization), **STRICT)
    for guard, value in LOOSE.items():
        assert send(api, "PUT", "notice-settings", {guard: value}).status_code == 403
    assert values(settings_of(api.organization.pk)) == STRICT


def test_a_key_changes_other_settings_and_may_repeat_the_guards(api, strict):
    for body in ({"at_risk_days": 3}, {"at_risk_days": 4, **STRICT}, {"signatory": {"name": "A."}}, {}):
        answered = done(send(api, "PUT", "notice-settings", body))
        assert ({guard: answered[guard] for guard in STRICT}, answered["loosenings"]) == (STRICT, [])
    assert answered["at_risk_days"] == 4, "what is left out stays"


def test_only_an_owner_with_an_app_changes_a_guard(api, strict):
    admin = accounts.caller(add_person(api.organization, Role.ADMIN), has_second_factor=True)
    without_app = owner(api.organization, has_second_factor=False)
    for caller in (admin, without_app, callers.command_line(api.organization.pk)):
        for guard, value in LOOSE.items():
            with pytest.raises(OwnersGuard):
                services.change_settings(caller=caller, **{guard: value})
    assert settings_of(api.organization.pk).loosenings == {}


def test_a_guard_is_loosened_a_day_after_an_owner_asks(api, strict):
    start = timezone.now()
    asked = services.change_settings(caller=owner(api.organization), **LOOSE)
    assert values(asked) == STRICT
    shown = api.get("/v1/notice-settings").json()["loosenings"]
    assert {loosening["guard"]: loosening["to"] for loosening in shown} == LOOSE
    with time_machine.travel(start + LOOSENING_DELAY - timedelta(minutes=1), tick=False):
        assert values(settings_of(api.organization.pk)) == STRICT
        again = services.change_settings(caller=owner(api.organization), require_grants=False)
        assert again.loosenings == asked.loosenings, "asking again does not restart the day"
    with time_machine.travel(start + LOOSENING_DELAY + timedelta(minutes=1), tick=False):
        now = settings_of(api.organization.pk)
        assert (values(now), now.waiting()) == (LOOSE, [])
        saved = services.change_settings(caller=callers.system(api.organization.pk), at_risk_days=5)
    assert values(saved) == values(NoticeSettings.objects.get()) == LOOSE


def test_every_owner_gets_a_mail_when_a_loosening_is_asked_for(api, strict):
    other = add_person(api.organization, Role.OWNER, "second@bank.example")
    add_person(api.organization, Role.ADMIN, "admin@bank.example")
    services.change_settings(caller=owner(api.organization), require_grants=False)
    tasks.deliver_mail()
    assert sorted(message.to[0] for message in mail.outbox) == ["owner@bank.example", other.user.email]
    for part in ("Only holders of an authority grant approve", "owner@bank.example", PAGE):
        assert part in mail.outbox[0].body
        assert part in mail.outbox[0].alternatives[0][0]
    services.change_settings(caller=owner(api.organization), require_grants=False)
    tasks.deliver_mail()
    assert len(mail.outbox) == 2, "asking again mails nothing"


@each_case("guard", STRICT)
def test_an_owner_cancels_a_loosening_by_sending_the_strict_value(organization, guard):
    services.change_settings(caller=owner(organization), **STRICT)
    services.change_settings(caller=owner(organization), **{guard: LOOSE[guard]})
    for other in (callers.system(organization.pk), owner(organization, has_second_factor=False)):
        services.change_settings(caller=other, **{guard: STRICT[guard]})
        assert settings_of(organization.pk).loosenings, "no other caller cancels"
    services.change_settings(caller=owner(organization), **{guard: STRICT[guard]})
    with time_machine.travel(timezone.now() + 2 * LOOSENING_DELAY, tick=False):
        assert values(settings_of(organization.pk)) == STRICT
    verbs = [event.verb for verb in ("loosening_asked", "loosening_canceled") for event in events(f"guard.{verb}")]
    assert verbs[-1] == "guard.loosening_canceled"


def test_a_pending_loosening_allows_no_approval(api, notice):
    services.change_settings(caller=owner(api.organization), require_grants=True)
    services.change_settings(caller=owner(api.organization), require_grants=False)
    assert "authority grant" in refused(approve(api, notice))
    with time_machine.travel(timezone.now() + LOOSENING_DELAY + timedelta(minutes=1), tick=False):
        assert done(approve(api, notice))["state"] == "approved"


def test_the_page_shows_a_loosening_and_an_owner_keeps_the_safeguard(api, strict, signed_in):
    browser = confirmed(signed_in(Role.OWNER, "second@bank.example"))
    fields = {"default_pack": "gdpr_22", "at_risk_days": "7", "require_other_key": "on", "require_acknowledged": "on"}
    assert browser.submit(PAGE, **fields).status_code == 302
    assert set(settings_of(api.organization.pk).loosenings) == {"require_grants"}
    html = browser.get(PAGE).content.decode()
    assert "Will be loosened" in html
    assert "second@bank.example" in html
    assert browser.submit(PAGE, **fields, require_grants="on").status_code == 302
    assert settings_of(api.organization.pk).loosenings, "saving other settings cancels nothing"
    assert "Will be loosened" in signed_in(Role.ADMIN).get(PAGE).content.decode()
    assert signed_in(Role.ADMIN, "a2@bank.example").submit(PAGE, f"{PAGE}cancel/require_grants/").status_code == 403
    assert browser.submit(PAGE, f"{PAGE}cancel/require_grants/").status_code == 302
    assert settings_of(api.organization.pk).loosenings == {}


def test_the_page_lets_only_owners_change_a_guard(api, strict, signed_in):
    for browser in (signed_in(Role.ADMIN), signed_in(Role.OWNER, "third@bank.example")):
        assert browser.submit(PAGE, default_pack="gdpr_22", at_risk_days="9").status_code == 302
        assert browser.submit(PAGE, default_pack="general", at_risk_days="9").status_code == 422
    row = settings_of(api.organization.pk)
    assert (values(row), row.loosenings, row.at_risk_days) == (STRICT, {}, 9)


def test_the_second_factor_rule_is_dropped_by_no_key_and_only_after_a_day(api, organization):
    path, strict, loose = "auth/organization", {"second_factor_required": True}, {"second_factor_required": False}
    assert send(api, "PATCH", path, strict).status_code == 403
    require_second_factor(caller=owner(organization, has_second_factor=False), required=True)
    assert done(send(api, "PATCH", path, strict))["second_factor_required"] is True
    assert send(api, "PATCH", path, loose).status_code == 403
    with pytest.raises(NotAllowed):
        require_second_factor(caller=owner(organization, has_second_factor=False), required=False)
    require_second_factor(caller=owner(organization), required=False)
    shown = api.get(f"/v1/{path}").json()
    assert (shown["second_factor_required"], shown["loosenings"][0]["to"]) == (True, False)
    approver = add_person(organization, Role.APPROVER).user
    assert second_factor.is_needed(approver)
    with time_machine.travel(timezone.now() + LOOSENING_DELAY + timedelta(minutes=1), tick=False):
        assert not second_factor.is_needed(approver)
        assert api.get(f"/v1/{path}").json()["second_factor_required"] is False


@pytest.mark.django_db(transaction=True)
def test_two_changes_at_once_lose_neither(shared_database, organization):
    guards = ("require_grants", "require_other_key")
    at_once(2, lambda number: services.change_settings(caller=owner(organization), **{guards[number]: True}))
    row = settings_of(organization.pk)
    assert (row.require_grants, row.require_other_key) == (True, True)
