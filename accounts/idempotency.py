"""`Idempotency-Key`: a repeated creating request gets the first answer, and creates nothing more.

Effect and answer commit in one transaction, so neither exists without the other. An answer may hold a secret, such as a
new key's credential, so it is encrypted. The cipher's key is derived from the pepper and from the client's
Idempotency-Key, which we do not store.
"""

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import wraps
from typing import Annotated, Any

from cryptography.fernet import Fernet
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from pydantic import Field, TypeAdapter
from rest_framework.request import Request

from accounts import token_hashing
from accounts.authentication import caller_of
from accounts.models import KeptAnswer
from config import db
from config.errors import DomainError, Invalid
from config.http import strict_json
from config.http.json_responses import JSON
from config.http.strict_json import InvalidJSON
from config.http.validation import parameter
from config.http.views import ApiView

LIFETIME = timedelta(hours=24)
REPLAYED = {"Idempotent-Replayed": "true"}
"""The header of a repeated answer."""
_PURPOSE = "accounts.KeptAnswer"

Key = Annotated[str, Field(min_length=1, max_length=255, pattern="^[!-~]*$")]
_KEY: TypeAdapter[str] = TypeAdapter(Key)

Handler = Callable[..., HttpResponse]
InForce = Callable[[uuid.UUID, Mapping[str, Any]], QuerySet[Any]]
Check = Callable[[ApiView, Mapping[str, Any], Mapping[str, Any]], object]


class Ended(DomainError):
    """The thing that the first request made is revoked, lifted, deleted or expired."""

    code = "ended"
    sentence = "What this Idempotency-Key made has ended since. Nothing was done. Use another key to make another."


class OtherRequest(DomainError):
    """The key came with a different body before."""

    code = "other_request"
    sentence = "This Idempotency-Key came with another body before. Nothing was done. Give each request its own key."


def key_of(request: Request) -> str | None:
    """Return the request's Idempotency-Key, or None. Raises Invalid."""
    sent = request.META.get("HTTP_IDEMPOTENCY_KEY")
    return None if sent is None else parameter(_KEY, "header", "Idempotency-Key", sent)


def idempotent_about(find: Callable[..., object]) -> Callable[[Handler], Handler]:
    """Repeat an answer while the object in the request's path exists.

    Args:
        find: takes the request and the values of its path, and raises if the decision or notice is gone.
    """
    return _idempotent(lambda view, made, path: find(view.request, **path))


def idempotent_while(in_force: InForce) -> Callable[[Handler], Handler]:
    """Repeat an answer while the object it describes is in force. The answer may hold a credential.

    Args:
        in_force: takes the organization's id and the answer, and returns the rows in force.
    """

    def check(view: ApiView, made: Mapping[str, Any], path: Mapping[str, Any]) -> None:
        if not in_force(caller_of(view.request).organization_id, made).exists():
            raise Ended

    return _idempotent(check)


def _idempotent(check: Check) -> Callable[[Handler], Handler]:
    """Decorate an operation whose whole effect is in the database.

    Only a success is stored. A client may correct and repeat a request that was refused or failed. Of simultaneous
    requests, one does the work and the others wait for its answer. A stored answer belongs to one key or member:
    another key of the same organization does the work itself. Authentication and permissions are checked first, as for
    any request.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def once(view: ApiView, request: Request, **path: Any) -> HttpResponse:
            key = key_of(request)
            if key is None:
                return handler(view, request, **path)
            ciphers, content = _ciphers(request, key), _content(view)
            with transaction.atomic():
                db.lock(*ciphers)
                if replayed := _replayed(view, ciphers, content):
                    check(view, json.loads(replayed.content), path)
                    return replayed
                try:
                    response = handler(view, request, **path)
                except Exception as error:  # answer inside the transaction, so that audit events of the refusal stay
                    response = view.handle_exception(error)
                if response.status_code >= 500:
                    transaction.set_rollback(True)
                elif response.status_code < 300:
                    _keep(view, response, ciphers, content)
            return response

        once.is_idempotent = True  # type: ignore[attr-defined]
        return once

    return decorate


def forget_old() -> None:
    """Delete the answers that are too old to repeat."""
    answers = KeptAnswer.objects.unscoped("answers of all organizations grow old")
    answers.filter(created_at__lte=timezone.now() - LIFETIME).delete()


def _replayed(view: ApiView, ciphers: Mapping[str, Fernet], content: str) -> HttpResponse | None:
    answers = KeptAnswer.objects.for_organization(caller_of(view.request).organization_id)
    row = answers.filter(slot__in=ciphers, created_at__gt=timezone.now() - LIFETIME).first()
    if row is None:
        return None
    stored = json.loads(ciphers[row.slot].decrypt(row.sealed))
    if stored["content"] != content:
        raise OtherRequest
    view.ignored = stored["ignored"]
    return HttpResponse(stored["answer"], status=stored["status"], headers=REPLAYED, content_type=JSON)


def _keep(view: ApiView, response: HttpResponse, ciphers: Mapping[str, Fernet], content: str) -> None:
    stored = {
        "content": content,
        "status": response.status_code,
        "ignored": view.ignored,
        "answer": response.content.decode(),
    }
    slot, cipher = next(iter(ciphers.items()))
    organization_id = caller_of(view.request).organization_id
    KeptAnswer.objects.for_organization(organization_id).update_or_create(
        slot=slot,
        defaults={
            "organization_id": organization_id,
            "sealed": cipher.encrypt(json.dumps(stored).encode()).decode(),
            "created_at": timezone.now(),
        },
    )


def _content(view: ApiView) -> str:
    """Return a digest of the body's canonical JSON."""
    try:
        canonical = strict_json.canonical(strict_json.read(view.raw_body, number=Decimal))
    except (Invalid, InvalidJSON):  # there is no body, or the view is about to refuse it
        canonical = b""
    return hashlib.sha256(canonical).hexdigest()


def _ciphers(request: Request, key: str) -> dict[str, Fernet]:
    """Return the slot and cipher of the answer, first under the current pepper, then under earlier ones."""
    caller = caller_of(request)
    asked = [str(caller.organization_id), caller.actor.kind, caller.actor.id, request.method, request.path, key]
    return dict(_derive(pepper, asked) for pepper in token_hashing.peppers())


def _derive(pepper: bytes, asked: list[str | None]) -> tuple[str, Fernet]:
    digest = hmac.digest(token_hashing.key(pepper, _PURPOSE), json.dumps(asked).encode(), "sha512")
    return digest[:32].hex(), Fernet(base64.urlsafe_b64encode(digest[32:]))
