"""Reports of a custody test, with every provider."""

import pytest

from tests.custody.clouds.accounts import Account

pytestmark = [pytest.mark.once, pytest.mark.boots]


def test_an_account_in_good_order_passes_every_check(account: Account) -> None:
    checks = account.prove()
    assert {check.id: check.detail for check in checks.values() if check.status != "pass"} == {}
    assert account.not_proven == []
    assert all(check.fix == "" for check in checks.values())


def test_without_any_configuration_the_first_check_lists_the_needed_settings_and_nothing_is_sent(
    account: Account,
) -> None:
    first, *others = account.prove(**dict.fromkeys(account.config, "")).values()
    assert (first.id, first.status) == ("configuration", "fail")
    for name in account.config:
        assert name in first.fix
    assert {(check.status, check.latency_ms) for check in others} == {("skipped", 0)}


def test_a_skipped_check_names_the_check_that_failed_first(account: Account) -> None:
    _, first, *others = account.prove(secret_ref="env:DRS_SECRET_ABSENT").values()
    assert (first.id, first.status) == ("credentials", "fail")
    assert {check.detail for check in others} == {"Not asked, because the check “Credentials” failed."}


def test_an_unknown_setting_is_reported_and_the_test_continues(account: Account) -> None:
    checks = account.prove(pasword="hunter2")
    assert (checks["configuration"].status, "pasword" in checks["configuration"].detail) == ("warn", True)
    assert "hunter2" not in str(checks)
    assert {check.status for check in checks.values()} == {"pass", "warn"}
