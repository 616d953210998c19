"""Approvals that a key asserts: the recorded basis, and how to parse it."""

import re

from accounts.audit import Actor

SIGNED_IN = "signed in"
_BASIS = re.compile(r"asserted by (?P<kind>[a-z]{1,16}) (?P<id>\S{1,64}?)(?:, no second person)?")


def basis(actor: Actor) -> str:
    """Return the basis of an approval by a key instead of a signed-in person."""
    return f"asserted by {actor.kind} {actor.id}, no second person"


def full(recorded: str) -> str:
    """Return a basis with the note that there was no second person, which earlier versions did not record."""
    match = _BASIS.fullmatch(recorded)
    return basis(Actor(match["kind"], match["id"], "")) if match else recorded


def actor_of(recorded: str) -> tuple[str, str]:
    """Return kind and id of the actor behind a recorded basis. It does not say which member was signed in."""
    match = _BASIS.fullmatch(recorded)
    return (match["kind"], match["id"]) if match else ("member", "")


def key_of(recorded: str) -> str:
    """Return the id of the key that asserted an approval, or ""."""
    match = _BASIS.fullmatch(recorded)
    return match["id"] if match and match["kind"] == "key" else ""
