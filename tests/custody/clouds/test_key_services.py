"""Customers' keys in their key management services: what each service is sent, what of its answer is verified, and how
failures are handled."""

import base64
import json
import uuid

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from custody import signers
from custody.clouds import keys
from custody.keys import kms, new_keys
from custody.keys.kms import KmsRefused, KmsSigner, KmsUnavailable
from custody.models import Key
from custody.sealing import envelope
from tests.custody.clouds.accounts import Account, amazon_account, google_account, microsoft_account
from tests.support.aws_server import AwsServer
from tests.support.azure_cloud import AzureCloud
from tests.support.certificates import Authority
from tests.support.gcs_server import GcsServer
from tests.support.web_server import json_reply

pytestmark = [pytest.mark.once, pytest.mark.boots]
Purpose = Key.Purpose


@pytest.fixture(autouse=True)
def _trusted(trusted: Authority) -> None:
    kms.forget()


@pytest.fixture
def of_amazon(amazon: AwsServer, monkeypatch: pytest.MonkeyPatch) -> Account:
    return amazon_account(amazon, monkeypatch)


@pytest.fixture
def of_google(google: GcsServer, monkeypatch: pytest.MonkeyPatch) -> Account:
    return google_account(google, monkeypatch)


@pytest.fixture
def of_microsoft(microsoft: AzureCloud, monkeypatch: pytest.MonkeyPatch) -> Account:
    account = microsoft_account(microsoft, monkeypatch)
    microsoft.permissions[account.config["client_id"]] |= {"wrapKey", "unwrapKey", "sign"}
    return account


@pytest.fixture(params=["of_amazon", "of_google", "of_microsoft"])
def account(request: pytest.FixtureRequest) -> Account:
    return request.getfixturevalue(request.param)


def proven(account, purpose, **changes):
    return new_keys.prove(account.organization_id, purpose, account.provider, {**account.config, **changes})


def service(account, row):
    return kms.service(account.provider, row.configuration, account.organization_id)


def disable(account):
    """Disable both keys, as the customer can."""
    if account.provider == "aws":
        for name in ("kms_key", "signing_key"):
            account.server.client("kms").disable_key(KeyId=account.config[name])
    elif account.provider == "gcp":
        for key in account.server.kms.keys.values():
            key.set_state("DISABLED")
    else:
        for versions in account.server.vault.keys.values():
            for key in versions:
                key.attributes["enabled"] = False


def front(account):
    return account.server.front


def test_a_secret_unwraps_and_the_row_has_only_settings_of_the_key(account):
    row = proven(account, Purpose.WRAPPING)
    secret, wrapped = service(account, row).new_secret()
    assert len(secret) == 32
    assert secret not in wrapped.blob
    assert service(account, row).unwrap(wrapped) == secret
    assert not {"bucket", "container", "account", "endpoint", "signing_key"} & set(row.configuration)
    assert row.configuration["kms_key"] == account.config["kms_key"]
    assert row.wrapped == b""


def test_the_same_key_has_the_same_id_and_another_key_another(account):
    first = proven(account, Purpose.WRAPPING)
    assert proven(account, Purpose.WRAPPING).key_id == first.key_id
    if account.provider == "aws":
        other = account.server.key()
    else:
        other = account.server.kms.key("b").name if account.provider == "gcp" else account.server.vault.key("b")
    assert proven(account, Purpose.WRAPPING, kms_key=other).key_id != first.key_id


def test_a_secret_wrapped_for_one_organization_opens_for_no_other(account):
    row = proven(account, Purpose.WRAPPING)
    _, wrapped = service(account, row).new_secret()
    other = kms.service(account.provider, row.configuration, uuid.uuid4())
    if account.provider == "azure":  # Key Vault has no context; the sealed record names the organization as well
        assert other.unwrap(wrapped)
    else:
        with pytest.raises(ValueError):
            other.unwrap(wrapped)


def test_a_foreign_ciphertext_is_damage_and_not_an_outage(account):
    row = proven(account, Purpose.WRAPPING)
    _, wrapped = service(account, row).new_secret()
    flipped = wrapped.blob[:40] + bytes([wrapped.blob[40] ^ 1]) + wrapped.blob[41:]
    with pytest.raises(ValueError):
        service(account, row).unwrap(wrapped._replace(blob=flipped))


@pytest.mark.parametrize("account", ["of_google", "of_microsoft"], indirect=True)
def test_an_earlier_version_of_a_key_still_unwraps(account):
    row = proven(account, Purpose.WRAPPING)
    secret, wrapped = service(account, row).new_secret()
    if account.provider == "gcp":
        account.server.kms.keys[account.config["kms_key"]].rotate()
    else:
        account.server.vault.key("wrapping")
    newer, wrapped_newer = service(account, row).new_secret()
    assert service(account, row).unwrap(wrapped) == secret
    assert service(account, row).unwrap(wrapped_newer) == newer


def test_a_wrapped_secret_leads_to_no_other_address(of_microsoft):
    row = proven(of_microsoft, Purpose.WRAPPING)
    _, wrapped = service(of_microsoft, row).new_secret()
    for changes in ({"key": "https://thief.example/keys/wrapping"}, {"version": "../../../x"}, {"version": ""}):
        asked = len(front(of_microsoft).requests)
        with pytest.raises(ValueError):
            service(of_microsoft, row).unwrap(wrapped._replace(**changes))
        assert len(front(of_microsoft).requests) == asked


def test_an_alias_is_followed_once(of_amazon):
    client = of_amazon.server.client("kms")
    client.create_alias(AliasName="alias/records", TargetKeyId=of_amazon.config["kms_key"])
    row = proven(of_amazon, Purpose.WRAPPING, kms_key="alias/records")
    assert row.configuration["kms_key"] == of_amazon.config["kms_key"]


# ── signing ──


def algorithms(account):
    """Return signing keys of every algorithm that the service has, with our name of the algorithm."""
    if account.provider == "aws":
        yield account.server.key("ECC_NIST_EDWARDS25519"), "ed25519"
        yield account.server.key("ECC_NIST_P256"), "ecdsa-p256-sha256"
    elif account.provider == "gcp":
        yield account.server.kms.key("ed", "EC_SIGN_ED25519").version, "ed25519"
        yield account.server.kms.key("ec", "EC_SIGN_P256_SHA256").version, "ecdsa-p256-sha256"
    else:
        yield account.server.vault.key("ec", "EC"), "ecdsa-p256-sha256"


def test_signatures_of_every_algorithm_verify_here_and_with_a_foreign_dsse_verifier(account):
    statement = json.dumps({"_type": envelope.STATEMENT_TYPE}).encode()
    message = envelope.pre_authentication_encoding(statement)
    for signing_key, algorithm in algorithms(account):
        row = proven(account, Purpose.SIGNING, signing_key=signing_key)
        assert row.algorithm == algorithm
        signature = KmsSigner(row).sign(message)
        assert signers.verifies(algorithm, row.public_pem, signature, message)
        assert not signers.verifies(algorithm, row.public_pem, signature, message + b" ")
        kind, scheme = {"ed25519": ("ed25519", "ed25519")}.get(algorithm, ("ecdsa", "ecdsa-sha2-nistp256"))
        public = row.public_pem
        if algorithm == "ed25519":
            raw = signers._public(public).public_bytes_raw().hex()
            key = SSlibKey(row.key_id, kind, scheme, {"public": raw})
        else:
            key = SSlibKey(row.key_id, kind, scheme, {"public": public})
        sealed = Envelope.from_dict(
            {
                "payload": base64.b64encode(statement).decode(),
                "payloadType": envelope.PAYLOAD_TYPE,
                "signatures": [{"keyid": row.key_id, "sig": base64.b64encode(signature).decode()}],
            }
        )
        assert list(sealed.verify([key], 1)) == [row.key_id]


def test_a_signature_by_another_key_is_refused(account):
    """For example after the key got another version, or if an answer was changed on its way."""
    first, *_ = algorithms(account)
    row, other = proven(account, Purpose.SIGNING, signing_key=first[0]), proven(account, Purpose.SIGNING)
    row.public_pem = other.public_pem
    with pytest.raises(KmsUnavailable):
        KmsSigner(row).sign(b"statement")


@pytest.mark.parametrize("account", ["of_amazon", "of_microsoft"], indirect=True)
def test_a_key_that_cannot_sign_here_is_refused_with_a_reason(account):
    rsa = account.server.key("RSA_2048") if account.provider == "aws" else account.server.vault.key("rsa")
    with pytest.raises(ValueError, match="P-256"):
        proven(account, Purpose.SIGNING, signing_key=rsa)


# ── failures ──


def test_a_silent_service_is_unavailable_and_not_a_refusal(account, monkeypatch, subtests):
    wrapping, signing = proven(account, Purpose.WRAPPING), proven(account, Purpose.SIGNING)
    _, wrapped = service(account, wrapping).new_secret()
    uses = {
        "new_secret": lambda: service(account, wrapping).new_secret(),
        "unwrap": lambda: service(account, wrapping).unwrap(wrapped),
        "sign": lambda: KmsSigner(signing).sign(b"statement"),
        "public_key": lambda: service(account, signing).public_key(),
    }
    for kind in (503, 429, 500, "reset", "timeout"):
        if kind == "timeout":
            monkeypatch.setattr(keys, "_REQUEST_SECONDS", 0.3)  # no later call may succeed
            kms.forget()
        for use, ask in uses.items():
            with subtests.test(f"{use}: {kind}"):
                front(account).faults.add(kind)
                with pytest.raises(KmsUnavailable) as failed:
                    ask()
                assert not isinstance(failed.value, KmsRefused), failed.value.reason
                assert failed.value.retry_after


def test_a_disabled_key_is_a_refusal_and_not_damage(account):
    wrapping, signing = proven(account, Purpose.WRAPPING), proven(account, Purpose.SIGNING)
    _, wrapped = service(account, wrapping).new_secret()
    disable(account)
    for ask in (
        service(account, wrapping).new_secret,
        lambda: service(account, wrapping).unwrap(wrapped),
        lambda: KmsSigner(signing).sign(b"statement"),
    ):
        with pytest.raises(KmsRefused):
            ask()


def test_missing_or_wrong_credentials_are_an_outage_of_the_key(account):
    wrapping = proven(account, Purpose.WRAPPING)
    for secret in ("", "no secret of this provider"):
        kms.forget()
        account.use_secret(secret)
        with pytest.raises(KmsUnavailable) as failed:
            service(account, wrapping).new_secret()
        assert not secret or secret not in failed.value.reason


DAMAGED = [
    ("encrypt", {"verifiedPlaintextCrc32c": False}),
    ("encrypt", {"verifiedAdditionalAuthenticatedDataCrc32c": None}),
    ("encrypt", {"ciphertextCrc32c": "1"}),
    ("decrypt", {"plaintextCrc32c": "1"}),
    ("decrypt", {"plaintext": base64.b64encode(b"\1" * 32).decode()}),
    ("asymmetricSign", {"verifiedDataCrc32c": False}),
    ("asymmetricSign", {"signatureCrc32c": "1"}),
    ("publicKey", {"pemCrc32c": "1"}),
    ("publicKey", {"pem": None}),
]


def test_an_answer_damaged_on_its_way_is_refused(of_google, monkeypatch, subtests):
    wrapping, signing = proven(of_google, Purpose.WRAPPING), proven(of_google, Purpose.SIGNING)
    _, wrapped = service(of_google, wrapping).new_secret()
    answer = of_google.server.kms.answer
    asked = {
        "encrypt": service(of_google, wrapping).new_secret,
        "decrypt": lambda: service(of_google, wrapping).unwrap(wrapped),
        "asymmetricSign": lambda: KmsSigner(signing).sign(b"statement"),
        "publicKey": service(of_google, signing).public_key,
    }
    for verb, changes in DAMAGED:

        def damaged(request, verb=verb, changes=changes):
            reply = answer(request)
            return json_reply(json.loads(reply.body) | changes) if verb in request.path else reply

        monkeypatch.setattr(of_google.server.kms, "answer", damaged)
        with subtests.test(f"{verb}: {changes}"), pytest.raises(KmsUnavailable):
            asked[verb]()


def test_each_value_sent_to_google_has_its_checksum(of_google):
    before = len(front(of_google).requests)
    wrapping, signing = proven(of_google, Purpose.WRAPPING), proven(of_google, Purpose.SIGNING)
    service(of_google, wrapping).unwrap(service(of_google, wrapping).new_secret()[1])
    KmsSigner(signing).sign(b"statement")
    asked = [request for request in front(of_google).requests[before:] if ":" in request.path]
    sent = {name for request in asked for name in json.loads(request.body)}
    values = {"plaintext", "ciphertext", "additionalAuthenticatedData", "data"}
    assert sent == values | {f"{name}Crc32c" for name in values}
