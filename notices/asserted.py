"""Approvals that rest on the word of a key: the basis that is recorded, and how it is read again."""

import re

from accounts.audit import Actor

SIGNED_IN = "signed in"
_BASIS = re.compile(r"asserted by (?P<kind>[a-z]{1,16}) (?P<id>\S{1,64}?)(?:, no second person)?")


def basis(actor: Actor) -> str:
    """Return the basis of an approval that no signed-in person gave."""
    return f"asserted by {actor.kind} {actor.id}, no second person"


def full(recorded: str) -> str:
    """Return a basis in full: earlier versions did not record that there was no second person."""
    match = _BASIS.fullmatch(recorded)
    return basis(Actor(match["kind"], match["id"], "")) if match else recorded


def key_of(recorded: str) -> str:
    """Return the id of the key that asserted an approval, or ""."""
    match = _BASIS.fullmatch(recorded)
    return match["id"] if match and match["kind"] == "key" else ""
