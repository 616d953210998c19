"""A key management service that answers what none would is one that cannot be used, and no fault of ours."""

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
    wrapping, signing = (service(account, proven(account, each)) for each in (Purpose.WRAPPING, Purpose.SIGNING))
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
                if use != "unwrap":  # which may give a secret that opens nothing
                    misses.append((body, status, use))
    assert misses == []


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_an_address_that_no_host_can_have_is_the_caller_s_to_mend(of_amazon: Account, host: str) -> None:
    check = of_amazon.prove(sts_endpoint=f"https://{host}")["credentials"]
    assert (check.status, check.fix) == ("fail", "Check region and endpoints.")
