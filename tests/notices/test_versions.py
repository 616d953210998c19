"""A finished notice never changes: a new version replaces it, or it is withdrawn."""

import pytest

from notices.models import Notice, Step
from tests.notices.conftest import approve, done, edit, exempt, refused, shown, step

pytestmark = pytest.mark.django_db


def in_state(api, notice, state: str) -> dict:
    """Bring the notice into a state and return it."""
    steps = {
        "draft": [],
        "in_review": [("submit", None)],
        "approved": [("approve", {"approver": "Reviewer 7", "authority": "credit officer"})],
        "withdrawn": [("withdraw", None)],
    }
    steps["delivered"] = [*steps["approved"], ("deliveries", {"channel": "hand"})]
    for name, body in steps[state]:
        done(step(api, notice, name, body))
    assert shown(api, notice)["state"] == state
    return notice


# ── new versions ──


@pytest.mark.parametrize("state", ["draft", "in_review", "withdrawn"])
def test_only_a_finished_notice_gets_a_new_version(api, notice, state):
    assert state.replace("_", " ") in refused(step(api, in_state(api, notice, state), "versions"))
    assert Notice.objects.count() == 1


@pytest.mark.parametrize("state", ["approved", "delivered"])
def test_a_new_version_begins_with_the_words_of_the_old_one(api, notice, state):
    edit(api, notice, title="As it went out")
    made = done(step(api, in_state(api, notice, state), "versions"))
    assert (made["state"], made["revision"], made["supersedes"]) == ("draft", 1, notice["notice_id"])
    old = shown(api, notice)
    assert (made["content"], old["state"]) == (old["content"], state)
    assert Notice.objects.get(pk=made["notice_id"]).address != Notice.objects.get(pk=old["notice_id"]).address


def test_a_new_version_keeps_recipient_and_waivers(api, notice):
    Notice.objects.update(recipient={"name": "A. Person"})
    exempt(api, notice, inputs="None were used.")
    made = done(step(api, in_state(api, notice, "approved"), "versions"))
    assert Notice.objects.get(pk=made["notice_id"]).recipient == {"name": "A. Person"}
    assert shown(api, made, "/history")["revisions"][0]["not_applicable"] == {"inputs": "None were used."}


def test_there_is_one_new_version_at_a_time(api, approved):
    first = done(step(api, approved, "versions"))
    assert "already" in refused(step(api, approved, "versions"))
    done(step(api, first, "withdraw"))
    done(step(api, approved, "versions"))


def test_its_approval_withdraws_the_old_one_and_says_why(api, approved):
    made = done(step(api, approved, "versions"))
    done(approve(api, made))
    assert shown(api, approved)["state"] == "withdrawn"
    (last,) = shown(api, approved, "/history")["steps"]
    assert (last["kind"], last["reason"]) == ("withdrawn", f"Replaced by {made['notice_id']}.")
    assert "withdrawn" in refused(step(api, approved, "versions"))


def test_its_approval_leaves_an_old_one_that_was_withdrawn_before(api, approved):
    made = done(step(api, approved, "versions"))
    done(step(api, approved, "withdraw"))
    done(approve(api, made))
    assert [entry["reason"] for entry in shown(api, approved, "/history")["steps"]] == [""]


def test_a_new_version_that_is_refused_or_withdrawn_leaves_the_old_one_standing(api, approved):
    made = done(step(api, approved, "versions"))
    edit(api, made, main_factors=[{"statement": "A reason.", "source": "outcome.nowhere"}])
    refused(approve(api, made))
    step(api, made, "withdraw")
    assert shown(api, approved)["state"] == "approved"


def test_versions_form_a_chain_and_the_last_is_valid(api, approved):
    last = approved
    for _ in range(3):
        last = done(approve(api, done(step(api, last, "versions"))))
    states = Notice.objects.order_by("created_at").values_list("state", flat=True)
    assert list(states) == ["withdrawn"] * 3 + ["approved"]


# ── withdrawing ──


@pytest.mark.parametrize("state", ["draft", "in_review", "approved", "delivered"])
def test_a_notice_is_withdrawn_whatever_its_state(api, notice, state):
    in_state(api, notice, state)
    assert done(step(api, notice, "withdraw"))["state"] == "withdrawn"
    for name, body in (("submit", None), ("deliveries", {"channel": "hand"}), ("request-changes", {"reason": "x"})):
        assert "withdrawn" in refused(step(api, notice, name, body))
    assert "withdrawn" in refused(edit(api, notice, title="New"))


def test_withdrawing_again_changes_nothing(api, notice):
    first, again = (done(step(api, notice, "withdraw")) for _ in range(2))
    assert first == again
    assert Step.objects.filter(kind="withdrawn").count() == 1


def test_the_approval_of_a_withdrawn_notice_stays_known(api, approved):
    withdrawn = done(step(api, approved, "withdraw"))
    assert withdrawn["approval"] == approved["approval"]
    assert withdrawn["letter_digest"] == approved["letter_digest"]
