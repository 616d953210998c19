"""Back office pages: the current storage, and the form that chooses another after a passed custody test."""

import pytest

from accounts.roles import Role
from custody.models import Entry, StorageOutage, StorageTarget
from custody.vaults import storage_targets
from tests.people import add_person, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.once]

STORAGE = "/admin/custody/storagetarget/"
FORM = "/admin/custody/entry/clouds/aws/"


@pytest.fixture
def account(trusted, of_amazon):
    return of_amazon


def use(browser, config):
    """Fill in the form and press its second button."""
    return browser.submit(FORM, **config, use="")


def targets():
    return list(StorageTarget.objects.exclude(organization=None))


def test_an_owner_chooses_a_bucket_and_returns(api, account, signed_in):
    browser = signed_in(Role.OWNER)
    assert "own (database)" in browser.get(STORAGE).content.decode()
    assert use(browser, account.config)["Location"] == STORAGE
    shown = browser.get(STORAGE).content.decode()
    assert "New records go to this bucket" in shown
    assert "Amazon S3" in shown
    api.ingest({"decision_id": "loan-1"})
    (target,) = targets()
    assert Entry.objects.get().target == target
    assert 'value="records"' in browser.get(FORM).content.decode(), "the form shows the current settings"
    assert browser.submit(STORAGE, STORAGE + "deployment/")["Location"] == STORAGE
    back = browser.get(STORAGE).content.decode()
    assert "own (database)" in back
    assert "Earlier storage" in back
    assert storage_targets.current(api.organization.pk).provider == "database"
    assert browser.get(STORAGE + "deployment/").status_code == 405


def test_a_failed_test_is_shown_as_a_checklist_and_changes_nothing(account, signed_in):
    answer = use(signed_in(Role.OWNER), {**account.config, "bucket": "absent"})
    shown = answer.content.decode()
    assert "The test failed" in shown
    assert "absent" in shown
    assert targets() == []


def test_only_owners_have_the_button_and_the_permission(account, signed_in, organization):
    browser = signed_in(Role.ADMIN)
    assert "may not choose where records are stored" in browser.get(FORM).content.decode()
    assert use(browser, account.config).status_code == 403
    assert browser.submit(FORM, STORAGE + "deployment/").status_code == 403
    auditor = sign_in(add_person(organization, Role.AUDITOR, "auditor@bank.example").user.email)
    assert auditor.get(STORAGE).status_code == 200
    assert targets() == []


def test_the_page_says_since_when_storage_fails_and_why(account, signed_in, organization):
    browser = signed_in(Role.OWNER)
    use(browser, account.config)
    StorageOutage.objects.create(target=targets()[0], reason="the bucket is gone")
    assert "this storage does not take records: the bucket is gone" in browser.get(STORAGE).content.decode()


def test_another_organizations_bucket_is_not_shown(account, signed_in, other_api):
    use(signed_in(Role.OWNER), account.config)
    stranger = sign_in(add_person(other_api.organization, Role.OWNER, "boss@other.example").user.email)
    assert "records" not in stranger.get(STORAGE).content.decode().partition("New records go to")[2].partition("dl>")[0]
    assert 'value="records"' not in stranger.get(FORM).content.decode()
