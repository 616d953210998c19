"""Questions about a customer's keys at Amazon: what they are, and whether KMS would wrap, unwrap and sign with them."""

import re
from typing import Any

from botocore.exceptions import ClientError

from custody.clouds.proof import Finding, failed, passed, skipped

_USAGE = {"wrapping_key": "ENCRYPT_DECRYPT", "signing_key": "SIGN_VERIFY"}
_SPECS = {
    "wrapping_key": {"SYMMETRIC_DEFAULT": ""},
    "signing_key": {"ECC_NIST_P256": "ECDSA_SHA_256", "ECC_NIST_EDWARDS25519": "ED25519_SHA_512"},
}
"""Accepted kinds of keys, with their signing algorithms."""
UNUSABLE = {
    "Disabled": "Enable the key again: kms:EnableKey.",
    "PendingDeletion": "Cancel its deletion and enable it: kms:CancelKeyDeletion, kms:EnableKey.",
    "PendingImport": "Import its key material: kms:ImportKeyMaterial.",
    "Unavailable": "Bring its custom key store back.",
}
_UNKNOWN_KEY = skipped(
    "It is not known which key the bucket encrypts with.", "Allow s3:GetEncryptionConfiguration on the bucket."
)
_NO_BUCKET_KEY = passed("The bucket encrypts with no key of yours, so none is needed.")


def bucket_key(cloud: Any) -> Finding:
    if not cloud.bucket_key:
        return _UNKNOWN_KEY if cloud.bucket_key is None else _NO_BUCKET_KEY
    state = cloud.client("kms").describe_key(KeyId=cloud.bucket_key)["KeyMetadata"]["KeyState"]
    if state != "Enabled":
        fix = UNUSABLE.get(state, "Enable the key.")
        return failed(f"The bucket's key is not enabled, so nothing can be stored: its state is {state}.", fix)
    return passed("The bucket's key is enabled.")


def bucket_key_wrap(cloud: Any) -> Finding:
    if not cloud.bucket_key:
        return _UNKNOWN_KEY if cloud.bucket_key is None else _NO_BUCKET_KEY
    return _dry(cloud, cloud.bucket_key, "generate_data_key", "wrap", KeySpec="AES_256")


def bucket_key_unwrap(cloud: Any) -> Finding:
    if not cloud.bucket_key:
        return _UNKNOWN_KEY if cloud.bucket_key is None else _NO_BUCKET_KEY
    return _dry(cloud, cloud.bucket_key, "decrypt", "unwrap", DryRunModifiers=["IGNORE_CIPHERTEXT"])


def public_key(cloud: Any) -> Finding:
    key = cloud.configuration.signing_key
    if not key:
        return skipped("No signing_key is named.")
    cloud.client("kms").get_public_key(KeyId=key)
    return passed("The public half of the key can be read.")


def _described(cloud: Any, which: str, key: str) -> Finding:
    named = re.match(r"arn:[^:]+:kms:([^:]+):", key)
    if named and named[1] != cloud.configuration.region:
        return failed(
            f"The key is in {named[1]}, the bucket in {cloud.configuration.region}.", "Name a key of this region."
        )
    metadata = cloud.client("kms").describe_key(KeyId=key)["KeyMetadata"]
    state, usage, spec = metadata["KeyState"], metadata["KeyUsage"], metadata.get("KeySpec", "SYMMETRIC_DEFAULT")
    if state != "Enabled":
        return failed(f"The key is not enabled: its state is {state}.", UNUSABLE.get(state, "Enable the key."))
    if usage != _USAGE[which] or spec not in _SPECS[which]:
        fix = f"Name a key with the usage {_USAGE[which]} and one of the specs {', '.join(_SPECS[which])}."
        return failed(f"The key cannot be used for this: it is {usage}, {spec}.", fix)
    if metadata.get("KeyManager") == "AWS":
        return failed("Amazon manages this key.", "Name a customer managed key.")
    cloud.algorithm = _SPECS[which][spec] or cloud.algorithm
    return passed(f"The key is enabled: {usage}, {spec}.")


def wrapping_key(cloud: Any) -> Finding:
    key = cloud.configuration.kms_key
    return _described(cloud, "wrapping_key", key) if key else skipped("No kms_key is named.")


def signing_key(cloud: Any) -> Finding:
    key = cloud.configuration.signing_key
    return _described(cloud, "signing_key", key) if key else skipped("No signing_key is named.")


def _dry(cloud: Any, key: str, operation: str, does: str, **sent: Any) -> Finding:
    """Ask for a dry run, whose success is an error code."""
    if not key:
        return skipped("No key for this is named.")
    try:
        getattr(cloud.client("kms"), operation)(KeyId=key, DryRun=True, **sent)
    except ClientError as error:
        if error.response["Error"]["Code"] == "DryRunOperationException":
            return passed(f"The key would {does}. Nothing was done with it.")
        raise
    return failed("The service ignored DryRun.", "Check kms_endpoint: this is not Amazon's KMS.")


def wrap(cloud: Any) -> Finding:
    return _dry(cloud, cloud.configuration.kms_key, "generate_data_key", "wrap", KeySpec="AES_256")


def unwrap(cloud: Any) -> Finding:
    return _dry(cloud, cloud.configuration.kms_key, "decrypt", "unwrap", DryRunModifiers=["IGNORE_CIPHERTEXT"])


def sign(cloud: Any) -> Finding:
    key, message = cloud.configuration.signing_key, b"decision-record-service custody test"
    return _dry(cloud, key, "sign", "sign", Message=message, MessageType="RAW", SigningAlgorithm=cloud.algorithm or "-")
