"""Small cases of a rule in one test: pytest takes longer to set up and report a test than to run such a case."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

_MAX_CHARACTERS = 500  # characters of a case in a report


def each_case(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable], Callable]:
    """Run cases like `pytest.mark.parametrize`, but in one test, which reports every failing case."""
    cases = [{names: value} if isinstance(names, str) else dict(zip(names, value, strict=True)) for value in values]

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def every_case(**fixtures: Any) -> None:
            misses: list[BaseException] = []
            for case in cases:
                try:
                    test(**fixtures, **case)
                except (Exception, pytest.fail.Exception) as miss:
                    miss.add_note(f"in the case {case}"[:_MAX_CHARACTERS])
                    misses.append(miss)
            if misses:
                raise BaseExceptionGroup(f"{len(misses)} of {len(cases)} cases", misses)

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in cases[0]]
        every_case.__signature__ = signature.replace(parameters=others)  # pytest reads the fixtures from it
        return every_case

    return decorate
