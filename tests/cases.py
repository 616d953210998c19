"""Small cases of a rule in one test: pytest takes longer to set up and report a test than to run such a case."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

_MAX_CHARACTERS = 500  # characters of a case in a report


def each_case(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable], Callable]:
    """Run cases like `pytest.mark.parametrize`, but as subtests of one test, which reports every failing case."""
    given = [{names: value} if isinstance(names, str) else dict(zip(names, value, strict=True)) for value in values]

    def decorate(test: Callable) -> Callable:
        alone: tuple[Callable, list[dict[str, Any]]] = (test, [{}])
        plain, below = getattr(test, "plain_and_cases", alone)  # of an `each_case` below this one
        cases = [{**case, **other} for case in given for other in below]

        def every_case(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for case in cases:
                with subtests.test(f"{case}"[:_MAX_CHARACTERS]):  # as text, so that a worker can send any value
                    plain(**fixtures, **case)

        signature = inspect.signature(plain)
        others = [parameter for name, parameter in signature.parameters.items() if name not in cases[0]]
        own = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        functools.update_wrapper(every_case, test)
        vars(every_case).update(
            __signature__=signature.replace(parameters=[own, *others]),  # pytest reads the fixtures from it
            plain_and_cases=(plain, cases),
        )
        return every_case

    return decorate
