"""Trying a source out: what a poll does, on one item, in ten seconds, and nothing of it is kept."""

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
    """What a test found: every step in words, and whether records would come."""

    steps: list[Step]

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)


@requires(Permission.MANAGE_CONNECTORS)
def try_source(*, caller: Caller, kind: str, config: dict[str, Any], secret_ref: str = "") -> Tested:
    """Try a source: check its settings, and read one item as a poll would.

    Raises:
        ReferenceRefused
        TestsBusy: two tests run in this process, or one of this organization.
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
        seconds=0.9 * SECONDS,  # so that the step that takes too long is the one that says so
        batch_items=1,
    )
    done = Step("configuration", True, "The settings are complete.")
    return Tested([done, *_in_time(source, kind, checked.settings)])


def _in_time(source: Source[Any], kind: str, settings: KindConfig) -> list[Step]:
    """The steps of reading."""
    try:
        last = _trials.run(source.organization_id, lambda: _sample(source, kind, settings), seconds=SECONDS)
    except TooLate:
        last = Step("time", False, f"The source took longer than {SECONDS} seconds.", "Check that it answers.")
    steps = list(source.steps)
    return steps if any(not step.ok for step in steps) else [*steps, last]


def _sample(source: Source[Any], kind: str, settings: KindConfig) -> Step:
    """Read one item and say what it is. Runs in a thread of its own, without the database."""
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
