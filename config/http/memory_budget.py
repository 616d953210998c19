from collections import Counter


class Room:
    """How many bytes that have come in, and are not answered yet, a process holds at once. Nobody takes more than half
    of it."""

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, 0
        self._taken_by: Counter[str] = Counter()

    def has(self, size: int, sender: str) -> bool:
        return self.taken + size <= self.most and (not sender or self._taken_by[sender] + size <= self.most // 2)

    def take(self, size: int, sender: str) -> bool:
        """Whether there was room for so many more. Those who have no name share the room without such a bound."""
        if not self.has(size, sender):
            return False
        self.taken += size
        if sender:
            self._taken_by[sender] += size
        return True

    def give(self, size: int, sender: str) -> None:
        self.taken -= size
        if sender:
            self._taken_by[sender] -= size
            if not self._taken_by[sender]:
                del self._taken_by[sender]
