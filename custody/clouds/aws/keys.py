"""AWS KMS."""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from cryptography.hazmat.primitives.serialization import load_der_public_key

from custody.clouds.aws import configuration as aws
from custody.clouds.keys import (
    SECRET_BYTES,
    KmsRefused,
    KmsUnavailable,
    NotWrappedByIt,
    PublicKey,
    Wrapped,
    calling,
    connections,
    text,
)
from custody.signers import ED25519

_NOT_WRAPPED_BY_IT = ("InvalidCiphertextException", "IncorrectKeyException")
_THEIRS = ("ThrottlingException", "KMSInternalException", "DependencyTimeoutException", "KeyUnavailableException")


class Configuration(aws.Configuration):
    """Configuration of keys: the settings of storage may be missing."""

    bucket: str = ""


class Service:
    def __init__(self, configuration: Configuration, organization_id: uuid.UUID) -> None:
        self._configuration = configuration
        # Amazon writes it into the log of each use, and a key's policy can require it.
        self._context = {"organization": str(organization_id)}
        net = connections()
        with _calling("sts:AssumeRole"):
            credentials = aws.credentials(configuration, net, organization_id=organization_id)
        self._client = aws.client("kms", configuration, net, credentials)

    def new_secret(self) -> tuple[bytes, Wrapped]:
        with _calling("kms:GenerateDataKey"):
            answer = self._client.generate_data_key(
                KeyId=self._configuration.kms_key, NumberOfBytes=SECRET_BYTES, EncryptionContext=self._context
            )
            secret, wrapped = answer["Plaintext"], Wrapped(text(answer, "KeyId"), "", answer["CiphertextBlob"])
            if len(secret) != SECRET_BYTES:
                raise KmsUnavailable("kms:GenerateDataKey: the secret has the wrong length")
        return secret, wrapped

    def unwrap(self, wrapped: Wrapped) -> bytes:
        with _calling("kms:Decrypt"):
            answer = self._client.decrypt(
                KeyId=self._configuration.kms_key, CiphertextBlob=wrapped.blob, EncryptionContext=self._context
            )
            secret: bytes = answer["Plaintext"]
        return secret

    def public_key(self) -> PublicKey:
        with _calling("kms:GetPublicKey"):
            answer = self._client.get_public_key(KeyId=self._configuration.signing_key)
            key, public = text(answer, "KeyId"), answer["PublicKey"]
        return PublicKey(key, load_der_public_key(public))

    def sign(self, data: bytes, algorithm: str) -> bytes:
        # Ed25519 signs the message. KMS would sign a digest as Ed25519ph, which is another algorithm.
        what: dict[str, Any] = (
            {"SigningAlgorithm": "ED25519_SHA_512", "MessageType": "RAW", "Message": data}
            if algorithm == ED25519
            else {
                "SigningAlgorithm": "ECDSA_SHA_256",
                "MessageType": "DIGEST",
                "Message": hashlib.sha256(data).digest(),
            }
        )
        with _calling("kms:Sign"):
            signature: bytes = self._client.sign(KeyId=self._configuration.signing_key, **what)["Signature"]
        return signature


@contextmanager
def _calling(call: str) -> Iterator[None]:
    with calling(call, BotoCoreError):
        try:
            yield
        except ClientError as error:
            code = str(error.response["Error"].get("Code", ""))[:64]
            status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
            if code in _NOT_WRAPPED_BY_IT:
                raise NotWrappedByIt(code) from error
            is_theirs = status >= 500 or status == 429 or code in _THEIRS
            raise (KmsUnavailable if is_theirs else KmsRefused)(f"{call}: {code or status}") from error
