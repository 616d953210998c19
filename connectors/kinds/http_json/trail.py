"""Detection of pages that lead back to a page of the same pass."""

from typing import Any


class Trail:
    """The name of one page of a pass, replaced after 1, 2, 4 … further pages (Brent's cycle detection).

    It fits into the cursor, and notices a loop of any length within four times as many pages.
    """

    def __init__(self, state: Any = None) -> None:
        self._mark: str
        self._steps: int
        self._limit: int
        self._mark, self._steps, self._limit = state or ("", 0, 1)

    @property
    def state(self) -> list[Any]:
        return [self._mark, self._steps, self._limit]

    def leads_back(self, name: str) -> bool:
        """Whether the next page, of this name, is the marked one. If not, count it."""
        if name == self._mark:
            return True
        self._steps += 1
        if self._steps == self._limit:
            self._mark, self._steps, self._limit = name, 0, 2 * self._limit
        return False
