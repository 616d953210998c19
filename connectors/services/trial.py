"""Tests of a source: a poll of one item within ten seconds, of which nothing is stored."""

from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any

import structlog

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import secret_references
from config.trials import SECONDS, Trials
from connectors import kinds, sources
from connectors.formats import Item
from connectors.kinds.base import KindConfig, Source, SourceFault, Step
from connectors.maps import FieldMap

log = structlog.get_logger("connectors")

_trials = Trials("connector-test")


@dataclass(frozen=True, slots=True)
class Tested:
    """The steps of a test in words, and whether a poll would bring records."""

    steps: list[Step]

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)


@requires(Permission.MANAGE_CONNECTORS)
def try_source(*, caller: Caller, kind: str, config: dict[str, Any], secret_ref: str = "") -> Tested:
    """Test a source: check its settings, and read one item as a poll would.

    Raises:
        ReferenceRefused
        TestsBusy: two tests are running in this process, or one for this organization.
    """
    if secret_ref:
        secret_references.require_allowed(secret_ref)
    checked = sources.check(kind, config, secret_ref)
    if checked.settings is None:
        fix = "Correct these settings."
        return Tested([Step("configuration", False, problem, fix) for problem in checked.problems])
    source = sources.open_source(
        checked.settings,
        secret_ref=secret_ref,
        organization_id=caller.organization_id,
        seconds=0.9 * SECONDS,  # less, so that a slow step reports its own time-out
        batch_items=1,
    )
    done = Step("configuration", True, "The settings are complete.")
    return Tested([done, *_in_time(source, kind, checked.settings)])


def _in_time(source: Source[Any], kind: str, settings: KindConfig) -> list[Step]:
    """Read one item, and return the steps."""
    try:
        last = _trials.run(source.organization_id, lambda: _sample(source, kind, settings), seconds=SECONDS)
    except TooLate:
        last = Step("time", False, f"The source took longer than {SECONDS} seconds.", "Check that it answers.")
    steps = list(source.steps)
    return steps if any(not step.ok for step in steps) else [*steps, last]


def _sample(source: Source[Any], kind: str, settings: KindConfig) -> Step:
    """Read one item and judge it. Runs in a separate thread, without the database."""
    try:
        for batch in kinds.kind(kind).read(source, {}):
            for item in batch.items:
                return _judged(item, sources.field_map(settings))
    except SourceFault as fault:
        return Step("reading", False, fault.sentence, fault.fix)
    except Exception as error:
        log.error("a connector test failed", kind=kind, exc_info=error)
        return Step("reading", False, "The service failed at this.", "See the service log for details.")
    return Step(
        "sample",
        True,
        "The source is empty: there was nothing to read.",
        "If it should hold records, check the prefix, the path, the query or the address.",
        warns=True,
    )


def _judged(item: Item, field_map: FieldMap | None) -> Step:
    problem, identity = sources.judge(item.raw, field_map)
    problem = item.problem or problem
    if problem:
        return Step("sample", False, f"{item.position}: {problem}", "Choose another format, or a map to decision_id.")
    return Step("sample", True, f"{item.position} is a record; its decision_id is {identity}.")
