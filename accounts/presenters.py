"""Guards of four eyes, as the API shows them."""

from typing import Any

from accounts.four_eyes import Guarded
from config.http.timestamps import rfc3339


def loosenings(row: Guarded) -> list[dict[str, Any]]:
    """Return the loosenings that wait, by name of the guard."""
    return [
        {
            "guard": loosening.guard,
            "to": loosening.to,
            "asked_by": loosening.asked_by,
            "takes_effect_at": rfc3339(loosening.takes_effect_at),
        }
        for loosening in row.waiting()
    ]
