"""Accept the letters of the corpus as they are drafted today, and print the corpus in numbers: `make letters`."""

import sys

from tests.corpus.letters import entries, review, stale, table


def main() -> None:
    for path in list(stale()):
        path.unlink()
    for entry in entries():
        entry.snapshot.write_text(str(review(entry)), encoding="utf-8")
    sys.stdout.write(table())


main()
