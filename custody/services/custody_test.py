"""Custody test: it proves a customer's key and storage against their account before they are used."""

from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.trials import SECONDS, Trials
from custody.clouds import proving
from custody.clouds.proving import Check, Proof

_trials = Trials("custody-test")


@dataclass(frozen=True, slots=True)
class CustodyTest:
    """The result of a test.

    Attributes:
        not_proven: permissions and checks that storing or disposing of records needs and that no check has shown.
        stored: names of objects that the cloud stored although no call of the test could succeed.
    """

    provider: str
    checks: list[Check]
    not_proven: list[str]
    stored: list[str]

    @property
    def effect(self) -> str:
        """Return a sentence that says what the test changed."""
        if not self.stored:
            return "Nothing was changed."
        return f"The service stored objects that it had to refuse: {', '.join(self.stored)}."

    @property
    def ok(self) -> bool:
        return not self.not_proven and all(check.status != "fail" for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        checks = [check.as_json() for check in self.checks]
        proven = {"proven": not self.not_proven, "not_proven": self.not_proven}
        changes = {"changed": bool(self.stored), "stored": self.stored}
        return {"provider": self.provider, "ok": self.ok, **changes, **proven, "checks": checks}


@requires(Permission.TEST_CUSTODY)
def run_custody_test(
    *,
    caller: Caller,
    provider: str,
    config: Mapping[str, str],
    done: Callable[[int], object] = lambda _: None,
) -> CustodyTest:
    """Test what a configuration names against its cloud, without changing anything there.

    Args:
        provider: one of `custody.clouds.PROVIDERS`.
        done: called with the number of checks that have ended since the last call.

    Raises:
        TestsBusy: two tests run in this process, or one of this organization.
    """

    def prove() -> Proof:
        return proving.prove(provider, config, organization_id=caller.organization_id, done=done)

    try:
        proof = _trials.run(caller.organization_id, prove, seconds=SECONDS)
        return CustodyTest(provider, *proof)
    except TooLate:
        detail = f"The test took longer than {SECONDS} seconds."
        late = Check("time", "fail", "", "", detail, "Try again later.", SECONDS * 1000)
        return CustodyTest(provider, [late], ["time"], [])
