"""The emulators behave as tests of vaults and keys require. Requests come from the clients that custody makes."""

import base64
import hashlib
import json
import time
import uuid
from typing import Any

import pytest
import requests
from azure.core.exceptions import HttpResponseError
from botocore.exceptions import ClientError
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from google.api_core.exceptions import BadRequest, Forbidden, PreconditionFailed, ServiceUnavailable

from config.vetted_http import ConnectionFailed, Connections, TooSlow
from custody import clouds
from custody.clouds.aws import configuration as aws
from custody.clouds.azure import configuration as azure
from custody.clouds.gcp import configuration as gcp
from tests.support.aws_server import REGION, AwsServer
from tests.support.azure_cloud import TENANT, AzureCloud
from tests.support.azurite import ACCOUNT
from tests.support.gcs_server import Bucket, GcsServer
from tests.support.key_vault import as_der
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.once, pytest.mark.boots]
SOMEBODY = uuid.uuid4()
DIGEST = hashlib.sha256(b"statement").digest()


def amazon_client(server: AwsServer, service: str, monkeypatch: Any, secret: str = "test:test") -> Any:
    monkeypatch.setenv("DRS_SECRET_AWS", secret)
    endpoints = {"endpoint": server.url, "kms_endpoint": server.url, "sts_endpoint": server.url}
    config: Any = clouds.checked(
        "aws", {"bucket": "records", "region": REGION, "secret_ref": "env:DRS_SECRET_AWS", **endpoints}
    )
    net = Connections()
    return aws.client(service, config, net, aws.credentials(config, net, organization_id=SOMEBODY))


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_s3_creates_once_and_refuses_wrong_checksums(amazon: AwsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    s3 = amazon_client(amazon, "s3", monkeypatch)
    s3.create_bucket(Bucket="records")
    s3.put_object(Bucket="records", Key="a", Body=b"1", IfNoneMatch="*", ChecksumAlgorithm="SHA256")
    with pytest.raises(ClientError) as exists:
        s3.put_object(Bucket="records", Key="a", Body=b"2", IfNoneMatch="*")
    checksum = base64.b64encode(DIGEST).decode()
    with pytest.raises(ClientError) as damaged:
        s3.put_object(Bucket="records", Key="b", Body=b"1", ChecksumSHA256=checksum)
    assert (code(exists), code(damaged)) == ("PreconditionFailed", "BadDigest")
    assert s3.get_object(Bucket="records", Key="a")["Body"].read() == b"1"
    with pytest.raises(ClientError) as of_another:
        s3.head_bucket(Bucket="records", ExpectedBucketOwner="111111111111")
    assert code(of_another) == "403"


def test_s3_keeps_locked_versions_and_checks_permissions(amazon: AwsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    s3 = amazon_client(amazon, "s3", monkeypatch)
    s3.create_bucket(Bucket="records", ObjectLockEnabledForBucket=True)
    locked = {"Mode": "COMPLIANCE", "Days": 1}
    s3.put_object_lock_configuration(
        Bucket="records",
        ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": locked}},
    )
    version = s3.put_object(Bucket="records", Key="a", Body=b"1", ChecksumAlgorithm="SHA256")["VersionId"]
    with pytest.raises(ClientError) as locked:
        s3.delete_object(Bucket="records", Key="a", VersionId=version)
    writer = amazon.person("writer", ("s3:PutObject", "arn:aws:s3:::records/*"))
    of_writer = amazon_client(amazon, "s3", monkeypatch, writer)
    of_writer.put_object(Bucket="records", Key="b", Body=b"1", ChecksumAlgorithm="SHA256")
    with pytest.raises(ClientError) as denied:
        of_writer.get_object(Bucket="records", Key="b")
    assert {code(locked), code(denied)} == {"AccessDenied"}


@pytest.mark.parametrize(
    ("spec", "algorithm"), [("ECC_NIST_P256", "ECDSA_SHA_256"), ("ECC_NIST_EDWARDS25519", "ED25519_SHA_512")]
)
def test_signatures_of_aws_kms_verify_with_the_public_key(
    amazon: AwsServer, monkeypatch: pytest.MonkeyPatch, spec: str, algorithm: str
) -> None:
    kms, key = amazon_client(amazon, "kms", monkeypatch), amazon.key(spec)
    made = kms.sign(KeyId=key, Message=b"statement", MessageType="RAW", SigningAlgorithm=algorithm)["Signature"]
    verify(serialization.load_der_public_key(kms.get_public_key(KeyId=key)["PublicKey"]), made)


def test_aws_kms_wraps_under_a_context_and_not_with_a_disabled_key(
    amazon: AwsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kms, key = amazon_client(amazon, "kms", monkeypatch), amazon.key()
    made = kms.generate_data_key(KeyId=key, KeySpec="AES_256", EncryptionContext={"organization": "a"})
    opened = kms.decrypt(CiphertextBlob=made["CiphertextBlob"], KeyId=key, EncryptionContext={"organization": "a"})
    assert opened["Plaintext"] == made["Plaintext"]
    with pytest.raises(ClientError) as of_another:
        kms.decrypt(CiphertextBlob=made["CiphertextBlob"], KeyId=key, EncryptionContext={"organization": "b"})
    with pytest.raises(ClientError) as dry:
        kms.generate_data_key(KeyId=key, KeySpec="AES_256", DryRun=True)
    kms.disable_key(KeyId=key)
    with pytest.raises(ClientError) as disabled:
        kms.decrypt(CiphertextBlob=made["CiphertextBlob"], KeyId=key, EncryptionContext={"organization": "a"})
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)
    with pytest.raises(ClientError) as pending:
        kms.generate_data_key(KeyId=key, KeySpec="AES_256")
    with pytest.raises(ClientError) as denied:
        amazon_client(amazon, "kms", monkeypatch, amazon.person("stranger")).describe_key(KeyId=key)
    assert [code(refused) for refused in (of_another, dry, disabled, pending, denied)] == [
        "InvalidCiphertextException",
        "DryRunOperationException",
        "DisabledException",
        "KMSInvalidStateException",
        "AccessDeniedException",
    ]


def google_config(server: GcsServer, *permissions: str, monkeypatch: Any) -> Any:
    server.granted.pop("tester@tests.iam.gserviceaccount.com", None)
    monkeypatch.setenv("DRS_SECRET_GCP", json.dumps(server.service_account("tester", *permissions)))
    config = {"bucket": "records", "secret_ref": "env:DRS_SECRET_GCP"}
    return clouds.checked("gcp", {**config, "endpoint": server.url, "kms_endpoint": server.url})


def google_bucket(server: GcsServer, *permissions: str, monkeypatch: Any) -> Any:
    config = google_config(server, *permissions, monkeypatch=monkeypatch)
    key = gcp.service_account_key(config, organization_id=SOMEBODY)
    return gcp.storage(config, Connections(), key).bucket("records")


_OBJECTS = ("storage.objects.create", "storage.objects.get", "storage.objects.list", "storage.objects.delete")


def test_gcs_creates_once_and_refuses_wrong_checksums(google: GcsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    google.buckets["records"] = Bucket()
    blob = google_bucket(google, *_OBJECTS, monkeypatch=monkeypatch).blob("a\r\n\r\nü")
    body = b"\x1f\x8b\r\n--\r\n\x00 1 \r\n"
    blob.upload_from_string(body, if_generation_match=0, checksum="crc32c", retry=None)
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string(b"2", if_generation_match=0, checksum="crc32c", retry=None)
    assert blob.download_as_bytes(raw_download=True, checksum="crc32c", retry=None) == body
    damaged = blob.bucket.blob("b")
    damaged.crc32c = "AAAAAA=="
    with pytest.raises(BadRequest):
        damaged.upload_from_string(b"1", checksum=None, retry=None)
    assert list(google.buckets["records"]) == [blob.name]


def test_gcs_keeps_versions_and_retained_objects_and_checks_permissions(
    google: GcsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.buckets["records"] = Bucket(versioning={"enabled": True})
    bucket = google_bucket(google, *_OBJECTS, monkeypatch=monkeypatch)
    for body in (b"1", b"2"):
        bucket.blob("a").upload_from_string(body, retry=None)
    bucket.blob("a").delete(retry=None)
    versions = list(bucket.list_blobs(versions=True, retry=None))
    assert [blob.name for blob in bucket.list_blobs(retry=None)] == []
    assert len({blob.generation for blob in versions}) == 2
    google.buckets["records"].settings["retentionPolicy"] = {"retentionPeriod": "3600"}
    with pytest.raises(Forbidden, match="retention"):
        versions[0].delete(retry=None)
    del google.buckets["records"].settings["retentionPolicy"]
    for version in versions:
        bucket.delete_blob("a", generation=version.generation, retry=None)
    assert list(bucket.list_blobs(versions=True, retry=None)) == []
    with pytest.raises(Forbidden):
        google_bucket(google, monkeypatch=monkeypatch).blob("a").upload_from_string(b"1", retry=None)


def google_call(server: GcsServer, resource: str, body: Any = None, *permissions: str, monkeypatch: Any) -> Any:
    config = google_config(server, *permissions, monkeypatch=monkeypatch)
    net, key = Connections(), gcp.service_account_key(config, organization_id=SOMEBODY)
    url = gcp.kms_url(config, resource)
    session = gcp.session(net, key)
    return (session.post(url, json=body) if body is not None else session.get(url)).json()


_KMS = [f"cloudkms.cryptoKeyVersions.{verb}" for verb in ("useToEncrypt", "useToDecrypt", "useToSign", "viewPublicKey")]


def test_cloud_kms_wraps_and_signs_with_real_keys(google: GcsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(resource: str, body: Any = None) -> Any:
        return google_call(google, resource, body, *_KMS, monkeypatch=monkeypatch)

    def text(content: bytes) -> str:
        return base64.b64encode(content).decode()

    wrapping = google.kms.key("wrapping")
    bound = {"additionalAuthenticatedData": text(b"organization a")}
    wrapped = call(f"{wrapping.name}:encrypt", {"plaintext": text(b"k" * 32), **bound})["ciphertext"]
    assert call(f"{wrapping.name}:decrypt", {"ciphertext": wrapped})["error"]["status"] == "INVALID_ARGUMENT"
    wrapping.rotate()
    opened = call(f"{wrapping.name}:decrypt", {"ciphertext": wrapped, **bound})
    assert base64.b64decode(opened["plaintext"]) == b"k" * 32
    wrapping.set_state("DESTROY_SCHEDULED")
    refused = call(f"{wrapping.name}:decrypt", {"ciphertext": wrapped, **bound})
    assert refused["error"]["status"] == "FAILED_PRECONDITION"
    for algorithm, body in (
        ("EC_SIGN_P256_SHA256", {"digest": {"sha256": text(DIGEST)}}),
        ("EC_SIGN_ED25519", {"data": text(b"statement")}),
    ):
        signing = google.kms.key("signing", algorithm)
        pem = call(f"{signing.version}/publicKey")["pem"]
        signature = base64.b64decode(call(f"{signing.version}:asymmetricSign", body)["signature"])
        verify(serialization.load_pem_public_key(pem.encode()), signature)
    denied = google_call(google, f"{wrapping.name}:encrypt", {"plaintext": ""}, monkeypatch=monkeypatch)
    assert denied["error"]["status"] == "PERMISSION_DENIED"


def azure_config(server: AzureCloud, *permissions: str, monkeypatch: Any) -> Any:
    identity, secret = server.application(*permissions)
    monkeypatch.setenv("DRS_SECRET_AZURE", secret)
    endpoints = {"endpoint": f"{server.url}/{ACCOUNT}", "login_endpoint": server.url, "arm_endpoint": server.url}
    who = {"tenant_id": TENANT, "client_id": identity, "secret_ref": "env:DRS_SECRET_AZURE"}
    return clouds.checked("azure", {"account": ACCOUNT, "container": "records", **who, **endpoints})


def test_azure_takes_tokens_of_applications_and_creates_once(
    microsoft: AzureCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = azure_config(microsoft, "blobs", monkeypatch=monkeypatch)
    net = Connections()
    who = azure.application(config, net, organization_id=SOMEBODY)
    container = azure.container(config, net, who, organization_id=SOMEBODY)
    microsoft.blobs.client.create_container("records")  # type: ignore[union-attr]
    container.upload_blob("a", b"1")
    with pytest.raises(HttpResponseError) as exists:
        container.upload_blob("a", b"2")
    assert exists.value.error_code == "BlobAlreadyExists"
    microsoft.blob_headers = {"x-ms-has-immutability-policy": "true"}
    assert container.get_container_properties().has_immutability_policy
    config = azure_config(microsoft, monkeypatch=monkeypatch)
    who = azure.application(config, net, organization_id=SOMEBODY)
    with pytest.raises(HttpResponseError) as denied:
        azure.container(config, net, who, organization_id=SOMEBODY).upload_blob("b", b"1")
    assert denied.value.error_code == "AuthorizationPermissionMismatch"


def test_key_vault_wraps_and_signs_with_real_keys(microsoft: AzureCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    config = azure_config(microsoft, "get", "sign", "wrapKey", "unwrapKey", monkeypatch=monkeypatch)
    net = Connections()
    who = azure.application(config, net, organization_id=SOMEBODY)

    def call(kid: str, verb: str, alg: str, value: bytes) -> Any:
        body = {"alg": alg, "value": base64.urlsafe_b64encode(value).decode().rstrip("=")}
        answer: Any = azure.key_session(net, who, kid).post(azure.key_url(kid, verb), json=body).json()
        return base64.urlsafe_b64decode(answer["value"] + "==") if "value" in answer else answer["error"]

    session = azure.key_session(net, who, microsoft.vault.key("wrapping"))
    wrapping = session.get(azure.key_url(microsoft.vault.key("wrapping"))).json()["key"]["kid"]
    assert (
        call(wrapping, "unwrapkey", "RSA-OAEP-256", call(wrapping, "wrapkey", "RSA-OAEP-256", b"k" * 32)) == b"k" * 32
    )
    public = session.get(azure.key_url(microsoft.vault.key("signing", "EC"))).json()["key"]
    x, y = (int.from_bytes(base64.urlsafe_b64decode(public[name] + "=="), "big") for name in "xy")
    signature = call(public["kid"], "sign", "ES256", DIGEST)
    verify(ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key(), as_der(signature))
    microsoft.vault.keys["wrapping"][-1].attributes["enabled"] = False
    assert call(wrapping, "wrapkey", "RSA-OAEP-256", b"k")["innererror"]["code"] == "KeyDisabled"
    microsoft.vault.keys["signing"][-1].attributes["exp"] = time.time() - 1
    assert call(public["kid"], "sign", "ES256", DIGEST)["innererror"]["code"] == "KeyExpired"
    microsoft.vault.delete("signing")
    assert call(public["kid"], "sign", "ES256", DIGEST)["code"] == "KeyNotFound"


def test_a_server_can_fail_before_and_after_the_effect(google: GcsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    google.buckets["records"] = Bucket()
    bucket = google_bucket(google, *_OBJECTS, monkeypatch=monkeypatch)
    for number, (kind, error) in enumerate(
        [(503, ServiceUnavailable), ("reset", ConnectionFailed), ("timeout", TooSlow)]
    ):
        if kind == "timeout":
            monkeypatch.setattr("config.vetted_http._IDLE_SECONDS", 0.5)
        for after in (False, True):
            google.faults.add(kind, method="POST", path="/upload/", after=after)  # type: ignore[arg-type]
            with pytest.raises((error, requests.ConnectionError)):
                bucket.blob(f"{number} {after}").upload_from_string(b"1", retry=None)
    wait_until(lambda: len(google.buckets["records"]) == 3, "what was lost on the way back took effect")
    assert set(google.buckets["records"]) == {"0 True", "1 True", "2 True"}
    monkeypatch.setattr("config.vetted_http._IDLE_SECONDS", HANGS_SECONDS)
    bucket.blob("now").upload_from_string(b"1", retry=None)


def verify(public: Any, signature: bytes) -> None:
    """Raise unless the signature is this key's for the statement."""
    with pytest.raises(InvalidSignature):
        _verify(public, signature, b"another")
    _verify(public, signature, b"statement")


def _verify(public: Any, signature: bytes, message: bytes) -> None:
    if isinstance(public, ed25519.Ed25519PublicKey):
        public.verify(signature, message)
    else:
        public.verify(signature, message, ec.ECDSA(hashes.SHA256()))
