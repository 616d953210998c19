"""The pages of retention: the policy in force, due decisions, setting a policy after a preview, holds and runs."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.roles import Role
from custody.models import Disposal, Entry
from retention import services
from retention.models import Hold, Policy, Run
from tests.notices.conftest import drafted
from tests.retention.conftest import NOW, decided, hold_by, hold_on, reasons, set_days
from tests.retention.test_announcements import asking

pytestmark = pytest.mark.django_db

PAGE = "/admin/retention/policy/"
HOLDS = "/admin/retention/hold/"
DISPOSALS = "/admin/custody/disposal/"


def text(answer):
    assert answer.status_code in (200, 422), answer.status_code
    return " ".join(answer.content.decode().split())


def on_page(browser, path=PAGE):
    return text(browser.get(path, follow=True))


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR])
@pytest.mark.parametrize("path", [PAGE, HOLDS, DISPOSALS])
def test_a_role_without_the_audit_trail_does_not_see_the_pages(path, role, signed_in):
    assert signed_in(role).get(path).status_code == 403


def test_an_auditor_sees_why_they_may_not_act(api, signed_in):
    decision = decided(api, "loan-1", 40)
    hold = hold_on(decision)
    auditor = signed_in(Role.AUDITOR)
    assert "Your role, auditor, may not change the retention policy." in on_page(auditor)
    assert "Your role, auditor, may not place and lift legal holds." in on_page(auditor, HOLDS)
    lift = reverse("admin:lift-hold", args=[hold.pk])
    token = auditor.csrf_token("/account/sessions/")
    for path in (reverse("admin:set-retention"), lift, reverse("admin:place-hold")):
        fields = {"days": "1", "share_percent": "5", "save": "", "because": "x", "csrfmiddlewaretoken": token}
        assert auditor.post(path, fields).status_code == 403
    hold.refresh_from_db()
    assert (hold.lifted_at, Policy.objects.count()) == (None, 0)


def test_an_admin_places_holds_and_leaves_policy_and_disposal_to_owners(api, signed_in, organization):
    run = asking(organization)
    admin = signed_in(Role.ADMIN)
    page = on_page(admin)
    assert "Your role, admin, may not change the retention policy." in page
    assert "Your role, admin, may not dispose of records." in page
    token = admin.csrf_token("/account/sessions/")
    confirm = reverse("admin:confirm-retention-run", args=[run.pk, 9])
    assert admin.post(confirm, {"csrfmiddlewaretoken": token}).status_code == 403
    assert admin.get(reverse("admin:place-hold")).status_code == 200


# ── the policy ──


def test_without_a_policy_the_page_says_that_all_decisions_stay(signed_in):
    assert "There is no policy: everything is kept" in on_page(signed_in())


def test_a_policy_is_saved_after_its_preview_and_not_before(api, signed_in):
    decided(api, "due", 400)
    decided(api, "young", 0)
    owner = signed_in()
    entered = {"days": "30", "note": "By our schedule.", "share_percent": "7"}
    preview = text(owner.submit(PAGE, reverse("admin:set-retention"), **entered))
    assert "This would dispose of <strong>1</strong> decision," in preview
    assert not Policy.objects.exists()
    saved = owner.submit(PAGE, reverse("admin:set-retention"), **entered, save="")
    assert saved["Location"] == PAGE
    policy = Policy.objects.get()
    assert (policy.days, policy.note, policy.share_percent) == (30, "By our schedule.", 7)
    page = on_page(owner)
    assert "<strong>owners have not been emailed yet</strong>" in page
    assert "no policy yet: it disposes of nothing" in page
    services.send_announcements()
    assert "owners have not been emailed yet" not in on_page(owner)
    assert api.get("/v1/decisions/due/record").status_code == 200


@pytest.mark.parametrize("wrong", [{"days": "0"}, {"days": "36501"}, {"days": ""}, {"share_percent": "101"}])
def test_an_invalid_policy_is_refused_and_the_entries_stay(wrong, signed_in):
    entered = {"days": "30", "note": "By our schedule.", "share_percent": "7"} | wrong
    answer = signed_in().submit(PAGE, reverse("admin:set-retention"), **entered, save="")
    assert answer.status_code == 422
    assert "By our schedule." in text(answer)
    assert not Policy.objects.exists()


def test_due_decisions_are_shown_with_the_reasons_to_keep_others(api, signed_in, clock, organization):
    clock.move_to(NOW - timedelta(days=45))
    decided(api, "due", 45)
    decided(api, "open", 45)
    drafted(api, "open", pack="general")
    decided(api, "floor", 45)
    drafted(api, "floor", pack="us_co_admt")
    hold_on(decided(api, "held", 45))
    set_days(organization, 30)
    clock.move_to(NOW)
    page = on_page(signed_in())
    assert "1 unfinished: A notice about it is neither delivered nor withdrawn." in page
    assert "1 kept for 1096 days by" in page
    assert 'href="/admin/retention/hold/">held</a>' in page
    assert "keeps 1096 days" in page


def test_without_a_journal_the_page_warns_about_a_restore(signed_in, settings):
    owner = signed_in()
    words = "a restored backup brings back what was disposed of"
    assert words not in on_page(owner)
    settings.RETENTION_JOURNAL = ""
    assert words in on_page(owner)


def test_the_pages_show_one_organization(api, other_api, signed_in):
    set_days(other_api.organization, 123, note="canary-77")
    hold = hold_by(other_api.organization, action="canary-78")
    owner = signed_in()
    assert "canary" not in on_page(owner) + on_page(owner, HOLDS)
    assert owner.get(f"{HOLDS}{hold.pk}/change/").status_code == 404
    token = owner.csrf_token("/account/sessions/")
    lift = owner.post(reverse("admin:lift-hold", args=[hold.pk]), {"because": "x", "csrfmiddlewaretoken": token})
    assert lift.status_code == 404
    theirs = decided(other_api, "theirs", 1)
    assert owner.get(reverse("admin:hold-decision", args=[theirs.pk])).status_code == 404
    run = asking(other_api.organization)
    confirm = reverse("admin:confirm-retention-run", args=[run.pk, 9])
    assert owner.post(confirm, {"csrfmiddlewaretoken": token}).status_code == 404


# ── a run that asks ──


def test_an_owner_confirms_a_run_that_asks(organization, signed_in, clock):
    set_days(organization, 30)
    services.send_announcements()
    clock.shift(timedelta(days=7))
    run = asking(organization)
    owner = signed_in()
    assert "would dispose of <strong>9</strong> decisions under policy 1 (30 days)" in on_page(owner)
    late = owner.submit(PAGE, reverse("admin:confirm-retention-run", args=[run.pk, 8]))
    assert "no longer asks what you confirmed" in on_page(owner, late["Location"])
    owner.submit(PAGE, reverse("admin:confirm-retention-run", args=[run.pk, 9]))
    run.refresh_from_db()
    assert run.state == Run.State.RUNNING
    assert "A disposal waits for an owner" not in on_page(owner)


def test_a_failed_run_shows_when_it_resumes(organization, signed_in):
    run = asking(organization)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, next_try_at=timezone.now())
    assert "running: failed, resumes after" in on_page(signed_in())


# ── holds ──


def test_a_hold_is_placed_from_the_decisions_page_and_lifted_with_a_reason(api, signed_in):
    decision = decided(api, "loan-1", 40)
    owner = signed_in()
    address = reverse("admin:hold-decision", args=[decision.pk])
    decision_page = reverse("admin:decisions_decision_change", args=[decision.pk])
    assert f'href="{address}"' in on_page(owner, decision_page)
    assert owner.submit(address, matter="Case 7", reason=" ").status_code == 422
    placed = owner.submit(address, matter="Case 7", reason="A claim is pending.")
    hold = Hold.objects.get()
    assert placed["Location"] == f"{HOLDS}{hold.pk}/change/"
    assert "hold 1" in on_page(owner, decision_page)
    row = on_page(owner, placed["Location"])
    assert "A claim is pending." in row
    assert "It covers 1 decision now" in row
    lift = reverse("admin:lift-hold", args=[hold.pk])
    assert owner.submit(placed["Location"], lift, because="").status_code == 422
    owner.submit(placed["Location"], lift, because="Settled.")
    hold.refresh_from_db()
    assert hold.lifted_because == "Settled."
    row = on_page(owner, placed["Location"])
    assert "This hold was lifted" in row
    assert "It covers" not in row
    assert "Case 7" not in on_page(owner, HOLDS)
    assert "Case 7" in on_page(owner, f"{HOLDS}?state=lifted")
    assert "Case 7" in on_page(owner, f"{HOLDS}?state=all")


def test_a_hold_by_a_filter_counts_its_decisions_before_it_is_placed(api, signed_in):
    decided(api, "one", 40, outcome={"action": "denied"})
    decided(api, "two", 40)
    owner, address = signed_in(), reverse("admin:place-hold")
    words = {"matter": "Case 8", "reason": "An inquiry."}
    assert "Fill in at least one value" in text(owner.submit(address, **words, place=""))
    times = {"received_from": "2026-01-02T03:04", "received_to": "2026-01-02T03:04"}
    assert "The start of a range is not before its end." in text(owner.submit(address, **words, **times, place=""))
    counted = text(owner.submit(address, **words, action="denied", count=""))
    assert "It would cover <strong>1</strong> decision now." in counted
    assert not Hold.objects.exists()
    owner.submit(address, **words, action="denied", received_from="2026-01-02T03:04", place="")
    assert Hold.objects.get().filter == {"action": "denied", "received_from": "2026-01-02T03:04:00.000000Z"}


# ── the start page ──


def test_the_start_page_shows_the_needs_of_an_owner(organization, signed_in, api):
    owner = signed_in()
    set_days(organization, 30)
    asking(organization)
    record = Entry.objects.get(pk=decided(api, "gone", 40).pk)
    Disposal.objects.create(
        record=record, root=record.pk, policy=1, statement=b"", signature=b"", key_id="k",
        disposed_at=timezone.now(), problem="storage: the bucket does not answer",
    )  # fmt: skip
    Entry.objects.filter(pk=record.pk).update(state=Entry.State.DISPOSED)
    page = on_page(owner, "/admin/")
    assert "disposal waits for an owner" in page
    assert "retention policy whose owners got no email yet" in page
    assert "record disposed of that could not be removed everywhere yet" in page
    assert "the bucket does not answer" in on_page(owner, f"{DISPOSALS}?state=failing")
    assert "1 disposal" in on_page(owner, f"{DISPOSALS}?state=unfinished")
    assert "0 disposals" in on_page(owner, f"{DISPOSALS}?state=finished")
    row = on_page(owner, f"{DISPOSALS}{record.pk}/change/")
    assert f'href="{reverse("admin:custody_entry_change", args=[record.pk])}"' in row
    assert "waits for an owner" not in on_page(signed_in(Role.EDITOR), "/admin/")


def test_a_hold_by_a_reference_respects_spaces(api, signed_in):
    held = decided(api, "loan-1", 40, subject={"reference": " person 7 "})
    words = {"matter": "Case 9", "reason": "A claim.", "subject_reference": " person 7 "}
    signed_in().submit(reverse("admin:place-hold"), **words, place="")
    assert reasons(held) == ["hold"]
