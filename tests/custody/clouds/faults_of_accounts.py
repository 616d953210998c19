"""Faults of customers' accounts, the check that reports each, and what stays unproven."""

from collections.abc import Callable

from custody.services import CustodyTest
from tests.custody.clouds.accounts import Account

Spoil = Callable[[Account], dict[str, str] | None]
"""Spoils one thing: in the account or, by its return value, in the configuration."""
Case = tuple[str, Spoil, str, str, str]
"""The name of the fault, the function that makes it, the check that reports it, its status, and words of its `fix`."""


def nonsense(path: str = "", action: bytes = b"") -> Spoil:
    """Replace the answer to these requests."""

    def spoil(account: Account) -> None:
        account.answer_with(lambda request: path in request.path and action in request.body, b"[]")

    return spoil


def check(account: Account, case: Case) -> None:
    _, spoil, where, status, fix = case
    changes = spoil(account)
    checks = account.prove(**(changes if isinstance(changes, dict) else {}))
    check = checks[where]
    assert (check.status, fix in check.fix) == (status, True), check
    assert check.detail
    assert bool(check.fix) or status in ("pass", "skipped"), check
    assert "hunter2" not in str(checks)


def check_unproven(account: Account, spoil: Spoil, names: list[str]) -> None:
    """Require that a test names exactly the needs that no check has shown."""
    account.prove(**(spoil(account) or {}))
    assert account.not_proven == names


def check_stored(account: Account, where: str, fix: str) -> None:
    """Require that a test reports the one object that the cloud stored, and says what to do."""
    checks = account.prove()
    check, (name,) = checks[where], account.stored
    assert (check.status, name in check.detail, fix in check.fix) == ("fail", True, True), check
    answered = CustodyTest(account.provider, [*checks.values()], account.not_proven, account.stored).as_json()
    assert (answered["ok"], answered["changed"], answered["stored"]) == (False, True, [name])
