"""Contributors: everyone who shaped a notice's words counts as a writer, also by a phrase, a key or a waiver."""

import pytest

from accounts import audit, callers
from accounts.callers import Caller
from accounts.models import ApiKey, Member
from accounts.roles import Role
from accounts.services import create_api_key
from notices import services as notices
from notices.errors import OwnNotice
from notices.models import Approval, Phrase
from notices.phrasebook_csv import read_table
from tests.conftest import Api
from tests.notices.conftest import (
    RECORD,
    acting,
    approve,
    done,
    drafted,
    edit,
    exempt,
    guard,
    key_of,
    refused,
    step,
    stored,
    warnings_of,
)
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

AUTHOR = "author@bank.example"
KEY = "events.application.loan_to_value"
TABLE = "language,key,sentence,label,withheld,owner,approved_version"


def phrase(sentence: str = "The loan was {value} of the value.", **fields: object) -> Phrase:
    return Phrase(**{"language": "en", "key": KEY, "sentence": sentence} | fields)


def put(organization, actor, *phrases: Phrase) -> None:
    notices.put_phrases(caller=Caller(organization.pk, Role.OWNER, actor), phrases=phrases)


def strict(api, **other: bool) -> None:
    """Set the guard under which keys cannot approve their own words."""
    guard(api.organization, require_other_key=True, **other)


@pytest.fixture
def recorded(api) -> Api:
    make_once("recorded", lambda: done(api.ingest(RECORD)))
    return api


@pytest.fixture
def author(organization):
    return acting(organization, Role.ADMIN, AUTHOR)


# ── phrases ──


def test_the_author_of_a_used_phrase_cannot_approve(recorded, signed_in):
    browser = signed_in(Role.ADMIN, AUTHOR)
    browser.submit("/admin/notices/phrase/put/", language="en", key=KEY, sentence="The loan was {value} of the value.")
    notice = drafted(recorded)
    assert "wrote a phrase" in refused(step(browser, notice, "approve"))
    assert "Ask another person" in refused(approve(recorded, notice, approver=f"Author <{AUTHOR.upper()}>"))
    assert "The member who made this key" in refused(approve(key_of(browser, recorded), notice))
    assert not Approval.objects.exists()
    assert done(step(signed_in(Role.APPROVER), notice, "approve"))["state"] == "approved"


@pytest.mark.parametrize("words", [{"label": "Loan to value", "sentence": ""}, {"withheld": True, "sentence": ""}])
def test_authors_of_labels_and_withheld_fields_count_as_writers(recorded, author, words):
    put(recorded.organization, author.actor, phrase(**words))
    with pytest.raises(OwnNotice, match="wrote a phrase"):
        notices.approve(notice=stored(recorded, drafted(recorded)), caller=author)


def test_authors_of_unused_phrases_are_no_writers(recorded, author):
    put(recorded.organization, author.actor, phrase(key="events.application.income"), phrase(language="de"))
    assert notices.approve(notice=stored(recorded, drafted(recorded)), caller=author)


def test_the_author_of_a_phrase_counts_after_it_is_removed_or_replaced(recorded, author):
    other = acting(recorded.organization, Role.OWNER, "other@bank.example")
    put(recorded.organization, author.actor, phrase())
    first = drafted(recorded)
    put(recorded.organization, other.actor, phrase("The loan came to {value} of the value."))
    second = drafted(recorded)
    notices.remove_phrase(phrase=Phrase.objects.get(), caller=author)
    for notice, writer, reader in ((first, author, other), (second, other, author)):
        with pytest.raises(OwnNotice, match="wrote a phrase"):
            notices.approve(notice=stored(recorded, notice), caller=writer)
        assert notices.approve(notice=stored(recorded, notice), caller=reader)


def test_each_part_of_a_phrase_has_its_own_author(recorded, author):
    second = acting(recorded.organization, Role.ADMIN, "second@bank.example")
    third = acting(recorded.organization, Role.ADMIN, "third@bank.example")
    put(recorded.organization, author.actor, phrase())
    put(recorded.organization, second.actor, phrase(label="Loan to value"))
    put(recorded.organization, third.actor, phrase(label="Loan to value", owner="Credit", approved_version="2"))
    notice = stored(recorded, drafted(recorded))
    for writer in (author, second):
        with pytest.raises(OwnNotice, match="wrote a phrase"):
            notices.approve(notice=notice, caller=writer)
    assert notices.approve(notice=notice, caller=third)


@pytest.mark.parametrize("again", ["{0}", " {0} ", "{0}\r\n"])
def test_saving_a_phrase_unchanged_keeps_its_author(recorded, author, again):
    second = acting(recorded.organization, Role.ADMIN, "second@bank.example")
    put(recorded.organization, author.actor, phrase())
    for actor in (second.actor, audit.COMMAND_LINE):
        put(recorded.organization, actor, phrase(again.replace("{0}", phrase().sentence)))
    with pytest.raises(OwnNotice, match="wrote a phrase"):
        notices.approve(notice=stored(recorded, drafted(recorded)), caller=author)
    assert notices.approve(notice=stored(recorded, drafted(recorded)), caller=second)


def test_a_table_imported_in_the_shell_has_no_member_as_author(recorded, author):
    rows = read_table([f"{TABLE}\n", f"en,{KEY},The loan was {{value}}.,,,,\n"])
    put(recorded.organization, audit.COMMAND_LINE, *rows)
    assert notices.approve(notice=stored(recorded, drafted(recorded)), caller=author)


def test_the_author_of_a_phrase_who_left_and_came_back_is_still_its_author(recorded, author):
    put(recorded.organization, author.actor, phrase())
    notice = stored(recorded, drafted(recorded))
    Member.objects.get(pk=author.member_id).delete()
    with pytest.raises(OwnNotice, match="wrote a phrase"):
        notices.approve(notice=notice, caller=acting(recorded.organization, Role.APPROVER, AUTHOR))


# ── keys ──


def test_the_maker_of_the_key_that_drafted_a_notice_is_its_writer(recorded, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key = key_of(owner, recorded)
    notice = drafted(key)
    assert "key that you made" in refused(step(owner, notice, "approve"))
    assert "Ask another person to approve it" in refused(approve(recorded, notice, approver="Maker@Bank.example"))
    assert done(step(signed_in(Role.APPROVER), notice, "approve"))["state"] == "approved"


def test_the_maker_of_a_key_s_maker_key_is_a_writer_even_when_both_are_revoked(recorded, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    first = key_of(owner, recorded)
    notice = drafted(key_of(first, recorded))
    for row in done(owner.get("/v1/auth/api-keys"))["items"]:
        if row["name"] == "a key":
            owner.call("DELETE", f"/v1/auth/api-keys/{row['key_id']}")
    assert "key that you made" in refused(step(owner, notice, "approve"))


def test_a_key_may_approve_its_own_words_as_asserted(recorded, signed_in):
    key = key_of(signed_in(Role.OWNER, "maker@bank.example"), recorded)
    notice = drafted(key)
    done(edit(key, notice, title="New"))
    assert done(approve(key, notice))["approval"]["basis"].startswith("asserted by key ")


def test_with_require_other_key_a_key_cannot_approve_its_own_words(recorded, signed_in):
    strict(recorded)
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key, sibling, other = key_of(owner, recorded), key_of(owner, recorded), key_of(signed_in(Role.ADMIN), recorded)
    for notice in (drafted(key), drafted(recorded)):
        done(edit(key, notice, title="New"))
        for same in (key, sibling):
            assert "Your organization" in refused(approve(same, notice))
        assert done(approve(other, notice))["state"] == "approved"


def test_with_require_other_key_an_ownerless_key_cannot_approve_its_own_words(recorded):
    strict(recorded)
    assert "Your organization" in refused(approve(recorded, drafted(recorded)))


@pytest.fixture
def lineage(recorded) -> dict[str, Api]:
    """Return keys that trace back to one made at the command line, and `other`, which does not."""
    made = key_of(recorded, recorded)
    token = create_api_key(caller=callers.system(recorded.organization.pk), name="other", role=Role.OWNER)[1]
    return {
        "first": recorded,
        "made": made,
        "made by made": key_of(made, recorded),
        "sibling": key_of(recorded, recorded),
        "other": Api(recorded.organization, token),
    }


def test_by_default_keys_of_one_lineage_approve_each_other_s_words(lineage):
    for approver in lineage.values():
        assert done(approve(approver, drafted(lineage["first"])))["state"] == "approved"


def test_with_require_other_key_no_key_approves_words_of_its_lineage(lineage):
    strict(lineage["first"])
    other = lineage.pop("other")
    for writer in lineage.values():
        notice = drafted(writer)
        for approver in lineage.values():
            assert "same origin" in refused(approve(approver, notice))
        assert done(approve(other, notice))["state"] == "approved"
    assert "same origin" in refused(approve(other, drafted(other)))


def test_revoking_a_key_in_between_does_not_split_a_lineage(lineage, signed_in):
    strict(lineage["first"])
    notice = drafted(lineage["made by made"])
    owner = signed_in(Role.OWNER)
    made, key = ApiKey.objects.exclude(making_key=None).order_by("pk")[:2]
    owner.call("DELETE", f"/v1/auth/api-keys/{made.key_id}")
    key.refresh_from_db()
    assert key.revoked_at
    for approver in ("first", "sibling"):
        assert "same origin" in refused(approve(lineage[approver], notice))


def test_require_other_key_is_among_the_settings(recorded, signed_in):
    assert recorded.get("/v1/notice-settings").json()["require_other_key"] is False
    strict(recorded, require_grants=True)
    stands = recorded.get("/v1/notice-settings").json()
    assert (stands["require_other_key"], stands["require_grants"]) == (True, True)
    page = "/admin/notices/noticesettings/"
    assert "No API key may approve a notice that it, or another key" in signed_in(Role.OWNER).get(page).content.decode()


# ── waivers ──


@pytest.fixture
def lacking(api) -> dict:
    """Return a draft under a law that needs the system's role, about a record without it."""
    api.ingest({"decision_id": "loan-2", "outcome": {"action": "denied", "reasons": ["The income is too low."]}})
    return drafted(api, "loan-2", pack="gdpr_22")


def blocking(notice: dict) -> dict[str, str]:
    missing = [element["id"] for element in notice["elements"] if element["blocks"] and element["result"] == "missing"]
    assert missing
    return dict.fromkeys(missing, "It went out before.")


def test_a_key_that_waived_a_blocking_element_cannot_approve(api, lacking, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key, sibling = key_of(owner, api), key_of(owner, api)
    done(exempt(key, lacking, **blocking(lacking)))
    assert "does not apply" in refused(approve(key, lacking))
    assert "does not apply" in refused(approve(sibling, lacking))
    assert "key that you made" in refused(step(owner, lacking, "approve"))
    assert "Ask another person to approve it" in refused(approve(api, lacking, approver="maker@bank.example"))
    assert done(approve(api, lacking, acknowledge=warnings_of(api, lacking)))["state"] == "approved"


def test_no_key_in_the_lineage_of_the_waiving_key_can_approve(api, lacking):
    made = key_of(api, api)
    done(exempt(made, lacking, **blocking(lacking)))
    for same in (api, key_of(made, api)):
        assert "does not apply" in refused(approve(same, lacking))


def test_a_waiver_counts_in_the_versions_that_follow_though_a_member_approved_between(api, lacking, signed_in):
    """The words may be removed only in the next version."""
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key, sibling = key_of(owner, api), key_of(owner, api)
    done(exempt(key, lacking, **blocking(lacking)))
    done(step(signed_in(Role.APPROVER), lacking, "approve", {"acknowledge": warnings_of(api, lacking)}))
    version = done(step(key, lacking, "versions"))
    done(edit(key, version, title="Shorter"))
    for caller in (key, sibling):
        assert "does not apply" in refused(approve(caller, version))


def test_an_ownerless_key_that_waived_cannot_approve(api, lacking, signed_in):
    done(exempt(api, lacking, **blocking(lacking)))
    done(edit(signed_in(Role.EDITOR), lacking, title="New"))
    assert "does not apply" in refused(approve(api, lacking))


def test_a_waiver_with_another_reason_is_another_waiver(api, lacking, signed_in):
    waived = blocking(lacking)
    done(exempt(signed_in(Role.EDITOR), lacking, **waived))
    done(exempt(api, lacking, **waived | {next(iter(waived)): "Because I say so."}))
    assert "does not apply" in refused(approve(api, lacking))


def test_a_key_that_repeated_a_waiver_unchanged_may_approve(api, lacking, signed_in):
    waived = blocking(lacking)
    done(exempt(signed_in(Role.EDITOR), lacking, **waived))
    done(edit(api, lacking, title="New"))
    done(exempt(api, lacking, **waived))
    assert done(approve(api, lacking, acknowledge=warnings_of(api, lacking)))["state"] == "approved"


def test_waiving_an_element_that_only_warns_has_no_consequence(api, lacking, signed_in):
    done(exempt(signed_in(Role.EDITOR), lacking, **blocking(lacking)))
    advice = next(element["id"] for element in lacking["elements"] if not element["blocks"])
    blocked = blocking(lacking)
    done(exempt(api, lacking, **blocked | {advice: "Not here."}))
    assert done(approve(api, lacking, acknowledge=warnings_of(api, lacking)))["state"] == "approved"


# ── new versions ──


def test_words_that_a_key_alone_approved_keep_their_writers_in_a_new_version(recorded, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key = key_of(owner, recorded)
    notice = drafted(key)
    done(edit(key, notice, title="Mine alone"))
    done(approve(key, notice))
    for _ in range(2):
        notice = done(step(recorded, notice, "versions"))
        assert "key that you made" in refused(step(owner, notice, "approve"))
        done(approve(recorded, notice))


def test_words_that_another_member_approved_no_longer_count_as_the_writer_s(recorded, signed_in):
    writer, second = signed_in(Role.OWNER, "writer@bank.example"), signed_in(Role.APPROVER)
    notice = drafted(recorded)
    done(edit(writer, notice, title="Mine"))
    done(step(second, notice, "approve"))
    newer = done(step(second, notice, "versions"))
    assert done(step(writer, newer, "approve"))["state"] == "approved"


# ── counting ──


def test_a_member_who_edits_a_hundred_times_is_one_contributor(api, notice, signed_in):
    second = signed_in(Role.EDITOR, "second@bank.example")
    for number in range(5):
        done(edit(api, notice, title=f"Title {number}"))
        done(edit(second, notice, title=f"Other title {number}"))
    rows = stored(api, notice).contributors
    assert sorted(rows.values_list("part", "actor_kind", "mail")) == [
        ("words", "key", ""),
        ("words", "member", "second@bank.example"),
    ]
