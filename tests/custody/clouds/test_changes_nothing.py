"""A custody test changes nothing: the account stays as it was, and no other request can be sent."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from custody.clouds import checked, proving
from custody.clouds.aws import object_proof
from custody.clouds.aws import proof as aws
from custody.clouds.azure import configuration as azure_clients
from custody.clouds.azure import proof as azure
from custody.clouds.gcp import configuration as gcp
from custody.clouds.gcp import proof as google
from custody.clouds.proof import CallRefused
from tests.custody.clouds.accounts import Account
from tests.support.azure_cloud import AzureCloud
from tests.support.gcs_server import GcsServer

pytestmark = [pytest.mark.once, pytest.mark.boots]


def _amazon_snapshot(account: Account) -> Any:
    """Return everything that the account's interfaces show."""
    s3, kms, iam = (account.server.client(service) for service in ("s3", "kms", "iam"))

    def answer_of(call: Callable[..., Any], **named: Any) -> Any:
        try:
            return {name: value for name, value in call(**named).items() if name != "ResponseMetadata"}
        except ClientError as error:
            return error.response["Error"]["Code"]

    about = [
        s3.get_bucket_versioning, s3.get_object_lock_configuration, s3.get_bucket_encryption, s3.get_bucket_acl,
        s3.get_public_access_block, s3.get_bucket_policy, s3.get_bucket_tagging, s3.list_object_versions,
    ]  # fmt: skip
    keys = [key["KeyId"] for key in kms.list_keys()["Keys"]]
    return {
        "buckets": [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]],
        "bucket": [answer_of(call, Bucket="records") for call in about],
        "aliases": answer_of(kms.list_aliases),
        "keys": [(answer_of(kms.describe_key, KeyId=key), answer_of(kms.list_grants, KeyId=key)) for key in keys],
        "people": answer_of(iam.list_users),
        "roles": answer_of(iam.list_roles),
        "policy": answer_of(iam.get_user_policy, UserName="custody", PolicyName="policy"),
    }


def _google_snapshot(account: Account) -> Any:
    server: GcsServer = account.server
    buckets = {
        name: (bucket.settings, [stored.as_json() for stored in [*bucket.values(), *bucket.former]])
        for name, bucket in server.buckets.items()
    }
    keys = {
        name: (key.bindings, [key.version_json(version) for version in key.versions])
        for name, key in server.kms.keys.items()
    }
    return json.loads(json.dumps([buckets, keys, sorted(server.granted)]))


def _microsoft_snapshot(account: Account) -> Any:
    server: AzureCloud = account.server
    service = server.blobs.client  # type: ignore[union-attr]
    containers = [
        (
            container.name,
            str(container.last_modified),
            container.etag,
            list(service.get_container_client(container.name).list_blob_names()),
        )
        for container in service.list_containers()
    ]
    keys = {name: [key.as_json() for key in versions] for name, versions in server.vault.keys.items()}
    return json.loads(json.dumps([containers, keys, server.account, server.blob_service, server.roles]))


SNAPSHOTS = {"aws": _amazon_snapshot, "gcp": _google_snapshot, "azure": _microsoft_snapshot}


def snapshot(account: Account) -> Any:
    return SNAPSHOTS[account.provider](account)


def test_the_account_is_unchanged_after_a_test(account: Account) -> None:
    before = snapshot(account)
    account.prove()
    account.prove(kms_key=account.config["signing_key"].partition("/cryptoKeyVersions/")[0])
    assert snapshot(account) == before


def test_a_snapshot_does_show_a_change(account: Account) -> None:
    """Otherwise the test above would pass whatever was changed."""
    before = snapshot(account)
    if account.provider == "aws":
        account.server.client("s3").put_object(Bucket="records", Key="a", Body=b"", ChecksumAlgorithm="SHA256")
    elif account.provider == "gcp":
        account.server.put("records", "a", b"")
    else:
        account.server.blobs.client.get_container_client("records").upload_blob("a", b"")
    assert snapshot(account) != before


def test_every_call_is_made_once(account: Account) -> None:
    account.server.front.requests.clear()
    account.prove()
    sent = [_named(request) for request in account.server.front.requests]
    assert len(sent) == len(set(sent)), sorted(sent)


def _named(request: Any) -> str:
    """A call: of AWS two for two keys and two resources, of others their address."""
    signed = request.headers.get("X-Amz-Target")
    body = request.body.decode("latin-1") if signed or "/oauth2/" in request.path or b"Action=" in request.body else ""
    return f"{request.method} {request.target} {signed or ''} {body}"


ABSENT = "custody-test-" + "0" * 32
# Calls that change something, and further reads: each is refused before it is sent.
AMAZON: list[tuple[str, str, dict[str, Any]]] = [
    ("s3", "put_object", {"Bucket": "records", "Key": "a", "IfMatch": object_proof.IMPOSSIBLE}),
    ("s3", "put_object", {"Bucket": "records", "Key": ABSENT}),
    ("s3", "put_object", {"Bucket": "records", "Key": ABSENT, "IfNoneMatch": "*"}),
    ("s3", "delete_object", {"Bucket": "records", "Key": ABSENT}),
    ("s3", "put_object_retention", {"Bucket": "records", "Key": "a", "VersionId": "null"}),
    ("s3", "delete_object", {"Bucket": "records", "Key": "a", "VersionId": "null"}),
    ("s3", "delete_object", {"Bucket": "records", "Key": "a"}),
    ("s3", "get_object", {"Bucket": "records", "Key": "a"}),
    ("s3", "list_objects_v2", {"Bucket": "records"}),
    ("s3", "put_bucket_versioning", {"Bucket": "records", "VersioningConfiguration": {"Status": "Suspended"}}),
    ("s3", "create_bucket", {"Bucket": "more"}),
    ("kms", "create_key", {}),
    ("kms", "disable_key", {"KeyId": "alias/records"}),
    ("kms", "encrypt", {"KeyId": "alias/records", "Plaintext": b"x", "DryRun": True}),
    ("kms", "generate_data_key", {"KeyId": "alias/records", "KeySpec": "AES_256"}),
    ("kms", "generate_data_key", {"KeyId": "alias/records", "KeySpec": "AES_256", "DryRun": False}),
    ("kms", "decrypt", {"CiphertextBlob": b"x"}),
    ("kms", "sign", {"KeyId": "alias/records", "Message": b"x", "SigningAlgorithm": "ECDSA_SHA_256"}),
    ("kms", "describe_key", {"KeyId": "alias/aws/s3"}),
    ("kms", "describe_key", {"KeyId": "arn:aws:kms:us-east-1:000000000000:alias/aws/s3"}),
    ("sts", "get_session_token", {}),
    ("iam", "list_users", {}),
]


def test_any_other_call_to_aws_raises_before_it_is_sent(of_amazon: Account, subtests: pytest.Subtests) -> None:
    cloud = aws.Amazon(checked("aws", of_amazon.config), of_amazon.organization_id)
    aws.QUESTIONS[0].ask(cloud)
    for service, operation, sent in AMAZON:
        of_amazon.server.front.requests.clear()
        with subtests.test(f"{service} {operation} {sent}"):
            with pytest.raises(CallRefused):
                getattr(cloud.client(service), operation)(**sent)
            assert of_amazon.server.front.requests == []


KEY = "projects/tests/locations/europe-west3/keyRings/ring/cryptoKeys/wrapping"
GOOGLE = [
    ("GET", "/storage/v1/projects/tests/serviceAccount"),  # can create the agent
    ("GET", "/storage/v1/b/records/o"),
    ("GET", "/storage/v1/b/records/o/a?alt=media"),
    ("GET", "/storage/v1/b/records/iam"),
    ("POST", "/upload/storage/v1/b/records/o?uploadType=media&name=a"),
    ("DELETE", "/storage/v1/b/records/o/a"),
    ("PATCH", "/storage/v1/b/records"),
    ("POST", "/storage/v1/b?project=tests"),
    ("POST", f"/v1/{KEY}:encrypt"),
    ("POST", f"/v1/{KEY}:decrypt"),
    ("POST", f"/v1/{KEY}:setIamPolicy"),
    ("POST", f"/v1/{KEY}/cryptoKeyVersions/1:destroy"),
    ("PATCH", f"/v1/{KEY}"),
    ("POST", "/token/more"),
]


def test_any_other_call_to_google_raises_before_it_is_sent(of_google: Account, subtests: pytest.Subtests) -> None:
    cloud = google.Google(checked("gcp", of_google.config), of_google.organization_id)
    cloud.sign_in()
    for method, target in GOOGLE:
        of_google.server.front.requests.clear()
        with subtests.test(f"{method} {target}"):
            with pytest.raises(CallRefused):
                cloud.session.request(method, of_google.server.url + target)  # type: ignore[union-attr]
            assert of_google.server.front.requests == []


def test_the_list_applies_to_the_storage_client_too(of_google: Account) -> None:
    cloud = google.Google(checked("gcp", of_google.config), of_google.organization_id)
    cloud.sign_in()
    key = gcp.service_account_key(cloud.configuration, organization_id=cloud.organization_id)
    client = gcp.storage(cloud.configuration, cloud.connections, key)
    with pytest.raises(CallRefused):
        client.get_service_account_email()
    with pytest.raises(CallRefused):
        client.bucket("records").blob("a").upload_from_string(b"x", retry=None)
    assert of_google.server.buckets["records"] == {}


def _calls_of_azure(cloud: azure.Azure) -> Iterator[Callable[[], Any]]:
    net, who = cloud.connections, cloud.application
    assert who is not None
    container = azure_clients.container(cloud.configuration, net, who, organization_id=cloud.organization_id)
    blobs, vault = container._get_blob_service_client(), cloud.configuration.kms_key
    keys, account = azure_clients.key_session(net, who, vault), azure_clients.account_session(net, who)
    now = datetime.now(UTC)
    yield lambda: blobs.get_user_delegation_key(now, now)
    yield lambda: container.upload_blob("a", b"x")
    yield lambda: container.delete_blob("a")
    yield lambda: list(container.list_blobs())
    yield container.delete_container
    yield container.get_container_access_policy
    yield blobs.get_service_properties
    yield lambda: keys.post(azure_clients.key_url(vault, "decrypt"), json={})
    yield lambda: container.upload_blob(ABSENT, b"x")
    yield lambda: container.get_blob_client(ABSENT).set_blob_tags({})
    yield lambda: keys.patch(azure_clients.key_url(vault), json={})
    yield lambda: keys.delete(azure_clients.key_url(vault))
    url = azure_clients.account_url(cloud.configuration, "", "2023-05-01")
    yield lambda: account.post(url.replace("?", "/listKeys?"))
    yield lambda: account.patch(url, json={})
    yield lambda: account.delete(url)


def test_any_other_call_to_azure_raises_before_it_is_sent(of_microsoft: Account) -> None:
    cloud = azure.Azure(checked("azure", of_microsoft.config), of_microsoft.organization_id)
    azure.QUESTIONS[0].ask(cloud)
    for call in _calls_of_azure(cloud):
        with pytest.raises(CallRefused):
            call()
    assert {re.sub("^.*/", "", request.path) for request in of_microsoft.server.front.requests} == {"token"}


def test_only_questions_and_the_sign_in_may_be_sent() -> None:
    assert {question.call for question in proving.questions("aws")} | {"sts:AssumeRole"} == aws.ALLOWED
    assert {method for method, _ in google.ALLOWED} == {"GET", "POST"}
    assert [method for method, _ in azure.ALLOWED if method in ("PUT", "DELETE")] == ["PUT", "DELETE"]
    assert [pattern for method, pattern in google.ALLOWED if method == "POST"] == [f"{google._KEY}:testIamPermissions"]
    posts = [pattern for method, pattern in azure.ALLOWED if method == "POST"]
    assert (posts[0], "wrapkey|unwrapkey|sign)" in posts[1]) == (r"/[^/?]+/oauth2/v2\.0/token", True)
