"""A key management service with nonsensical answers counts as unavailable, and not as a failure of this service."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from custody.clouds.keys import NotWrappedByIt
from custody.keys import kms
from custody.keys.kms import KmsUnavailable
from custody.models import Key
from tests.custody.clouds.accounts import Account
from tests.custody.clouds.test_key_services import proven, service
from tests.support.certificates import Authority

pytestmark = [pytest.mark.once, pytest.mark.boots]
Purpose = Key.Purpose
NONSENSE = [
    b"", b"[]", b"{}", b"<a/>", b"null", b"\xff",
    json.dumps({"Plaintext": "AA==", "CiphertextBlob": "AA==", "KeyId": "x"}).encode(),
    json.dumps({"Plaintext": "A", "CiphertextBlob": 1, "KeyId": [], "PublicKey": "!", "Signature": {}}).encode(),
    json.dumps({"key": [], "kid": 1, "value": 2, "pem": 3, "plaintext": [], "ciphertext": {}, "error": 7}).encode(),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _trusted(trusted: Authority) -> None:
    kms.forget()


@pytest.fixture(params=["of_amazon", "of_google", "of_microsoft"])
def account(request: pytest.FixtureRequest) -> Account:
    made: Account = request.getfixturevalue(request.param)
    if made.provider == "azure":
        made.server.permissions[made.config["client_id"]] |= {"wrapKey", "unwrapKey", "sign"}
    return made


def test_nonsense_is_an_outage(account: Account) -> None:
    wrapping, signing = (service(account, proven(account, purpose)) for purpose in (Purpose.WRAPPING, Purpose.SIGNING))
    _, wrapped = wrapping.new_secret()
    asked: dict[str, tuple[Callable[[], Any], tuple[type[Exception], ...]]] = {
        "new_secret": (wrapping.new_secret, (KmsUnavailable,)),
        "sign": (lambda: signing.sign(b"x", "ed25519"), (KmsUnavailable,)),
        "public_key": (signing.public_key, (KmsUnavailable, ValueError)),
        "unwrap": (lambda: wrapping.unwrap(wrapped), (KmsUnavailable, NotWrappedByIt)),
    }
    misses: list[Any] = []
    for body, status in itertools.product(NONSENSE, [200, 400, 500]):
        account.answer_with(lambda request: "token" not in request.path, body, status)
        for use, (ask, expected) in asked.items():
            try:
                ask()
            except expected:
                continue
            except Exception as error:
                misses.append((body, status, use, error))
            else:
                if use != "unwrap":  # unwrap may return a wrong secret, which opens nothing
                    misses.append((body, status, use))
    assert misses == []


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_an_impossible_address_is_the_callers_to_fix(of_amazon: Account, host: str) -> None:
    check = of_amazon.prove(sts_endpoint=f"https://{host}")["credentials"]
    assert (check.status, check.fix) == ("fail", "Check region and endpoints.")
