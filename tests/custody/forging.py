"""Changes that an attacker with database and vault, but without a signing key, can make."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from accounts import audit, services
from custody import signers, vaults
from custody.keys import keyrings
from custody.models import Entry, object_key
from custody.sealing import envelope, sealer
from tests.support.unguarded import unguarded

Forgery = Callable[[Entry], None]


def _replace(entry: Entry, statement: bytes, signature: bytes, key_id: str) -> None:
    """Replace statement, signature and key id, both in the row and in the object."""
    vault, key = vaults.of(entry.target_id), object_key(entry.organization_id, entry.pk)
    body = vault.get(key)
    header, ciphertext = sealer.unpack(body)
    encoded = sealer._encode_header(replace(header, statement=statement, signature=signature, key_id=key_id))
    with unguarded():
        vault.delete(key)
    assert vault.put_new(key, body[:4] + len(encoded).to_bytes(4, "big") + encoded + ciphertext)
    with unguarded():
        Entry.objects.filter(pk=entry.pk).update(statement=statement, signature=signature, key_id=key_id)


def _saying(entry: Entry, **predicate: Any) -> bytes:
    document = json.loads(bytes(entry.statement))
    document["predicate"] |= predicate
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _signed(key: Ed25519PrivateKey, statement: bytes) -> bytes:
    return key.sign(envelope.pre_authentication_encoding(statement))


def another_time(entry: Entry) -> None:
    _replace(entry, _saying(entry, receivedAt="2020-01-01T00:00:00.000000Z"), bytes(entry.signature), entry.key_id)


def another_tree(entry: Entry) -> None:
    _replace(entry, _saying(entry, fields={"root": "00" * 32, "count": 1}), bytes(entry.signature), entry.key_id)


def no_signature(entry: Entry) -> None:
    _replace(entry, bytes(entry.statement), b"", entry.key_id)


def signed_by_nobodys_key(entry: Entry) -> None:
    stranger, statement = Ed25519PrivateKey.generate(), _saying(entry, parents=["00" * 32])
    _replace(entry, statement, _signed(stranger, statement), signers.key_id(stranger.public_key()))


def signed_by_another_under_the_keys_id(entry: Entry) -> None:
    statement = _saying(entry, parents=["00" * 32])
    _replace(entry, statement, _signed(Ed25519PrivateKey.generate(), statement), entry.key_id)


def signed_by_another_organization(entry: Entry) -> None:
    other = services.create_organization(name="Forger", owner_email="o@forger.example", actor=audit.SYSTEM)
    ring, statement = keyrings.keyring(other.id), _saying(entry, parents=["00" * 32])
    _replace(entry, statement, _signed(ring.signer, statement), ring.signer.key_id)


def another_kind_in_the_row(entry: Entry) -> None:
    other = "reconsideration" if entry.kind == "decision" else "decision"
    with unguarded():
        Entry.objects.filter(pk=entry.pk).update(kind=other)


def another_time_in_the_row(entry: Entry) -> None:
    with unguarded():
        Entry.objects.filter(pk=entry.pk).update(received_at=timezone.now() - timedelta(days=400))


FORGERIES: dict[str, Forgery] = {
    forgery.__name__: forgery
    for forgery in (
        another_time,
        another_tree,
        no_signature,
        signed_by_nobodys_key,
        signed_by_another_under_the_keys_id,
        signed_by_another_organization,
        another_kind_in_the_row,
        another_time_in_the_row,
    )
}
