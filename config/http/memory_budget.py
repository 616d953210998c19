from collections import Counter


class MemoryBudget:
    """The body bytes of unanswered requests that a process may hold at once. One sender gets at most half."""

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0
        self._used_by: Counter[str] = Counter()

    def fits(self, size: int, sender: str) -> bool:
        return self.used + size <= self.limit and (not sender or self._used_by[sender] + size <= self.limit // 2)

    def reserve(self, size: int, sender: str) -> bool:
        """Reserve bytes if they fit. Return whether they did. The half applies to named senders only."""
        if not self.fits(size, sender):
            return False
        self.used += size
        if sender:
            self._used_by[sender] += size
        return True

    def release(self, size: int, sender: str) -> None:
        self.used -= size
        if sender:
            self._used_by[sender] -= size
            if not self._used_by[sender]:
                del self._used_by[sender]
