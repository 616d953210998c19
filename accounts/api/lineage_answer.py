from typing import Any

from accounts.services.lineage import Made
from config.http.timestamps import rfc3339


def shown_made(made: Made) -> dict[str, Any]:
    """Return the fields of `WithMade`."""
    return {
        "keys": [
            {"key_id": key.key_id, "name": key.name, "role": key.role, "revoked_at": rfc3339(key.revoked_at)}
            for key in made.keys
        ],
        "invites": [
            {
                "invite_id": str(invite.pk),
                "email": invite.email,
                "role": invite.role,
                "revoked_at": rfc3339(invite.revoked_at),
            }
            for invite in made.invites
        ],
        "members": [
            {"member_id": str(member.pk), "email": member.user.email, "role": member.role} for member in made.members
        ],
    }
