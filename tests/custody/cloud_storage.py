"""Buckets in the emulators, each empty and ready to be an organization's storage target."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.aws_server import REGION, AwsServer
from tests.support.azure_cloud import AzureCloud
from tests.support.azurite import ACCOUNT
from tests.support.blob_versions import Blob
from tests.support.faults import Faults
from tests.support.gcs_server import Bucket, GcsServer, Object
from tests.support.web_server import WebServer

PROVIDERS = ("aws", "gcp", "azure")
_OF_GCS = ("get", "list", "create", "delete")


@dataclass
class CloudStorage:
    """A bucket, the configuration of a target that uses it, and the powers of its owner."""

    provider: str
    config: dict[str, str]
    front: WebServer
    """The server that receives requests."""
    names: Callable[[], list[str]]
    """Names of all objects and versions."""
    bodies: Callable[[], list[bytes]]
    """Contents that are still served, of any version."""
    recoverable: Callable[[], list[bytes]]
    """Contents that soft delete retains."""
    remove: Callable[[str], None]
    """Delete an object in all versions."""
    replace: Callable[[str, bytes], None]
    drop: Callable[[], None]
    """Delete the whole bucket."""

    @property
    def put_method(self) -> str:
        return "POST" if self.provider == "gcp" else "PUT"

    @property
    def faults(self) -> Faults:
        return self.front.faults

    @property
    def marker(self) -> str:
        return f"{self.config['prefix']}/MARKER"


def amazon_bucket(
    server: AwsServer, env: Callable[[str, str], None], *, locked: bool = False, versioned: bool = True
) -> CloudStorage:
    s3 = server.client("s3")
    s3.create_bucket(Bucket="records", ObjectLockEnabledForBucket=locked)
    if versioned:
        s3.put_bucket_versioning(Bucket="records", VersioningConfiguration={"Status": "Enabled"})
    env("DRS_SECRET_AWS", "test:test")

    def versions() -> list[dict[str, Any]]:
        listing = s3.list_object_versions(Bucket="records")
        return [*listing.get("Versions", ()), *listing.get("DeleteMarkers", ())]

    def bodies() -> list[bytes]:
        listed = s3.list_object_versions(Bucket="records").get("Versions", ())
        answers = [
            s3.get_object(Bucket="records", Key=version["Key"], VersionId=version["VersionId"]) for version in listed
        ]
        return [answer["Body"].read() for answer in answers]

    def remove(name: str) -> None:
        for version in versions():
            if version["Key"] == name:
                s3.delete_object(Bucket="records", Key=name, VersionId=version["VersionId"])

    def drop() -> None:
        for version in versions():
            s3.delete_object(Bucket="records", Key=version["Key"], VersionId=version["VersionId"])
        s3.delete_bucket(Bucket="records")

    return CloudStorage(
        "aws",
        {
            "bucket": "records",
            "region": REGION,
            "prefix": "kept/here",
            "endpoint": server.url,
            "sts_endpoint": server.url,
            "secret_ref": "env:DRS_SECRET_AWS",
        },
        server.front,
        lambda: [version["Key"] for version in versions()],
        bodies,
        list,
        remove,
        lambda name, body: s3.put_object(Bucket="records", Key=name, Body=body),
        drop,
    )


def google_bucket(
    server: GcsServer,
    env: Callable[[str, str], None],
    *,
    locked: bool = False,
    versioned: bool = True,
    soft_delete_days: int = 0,
) -> CloudStorage:
    lock = {"objectRetention": {"mode": "Enabled"}} if locked else {}
    soft = {"softDeletePolicy": {"retentionDurationSeconds": str(soft_delete_days * 86400)}}
    server.buckets["records"] = Bucket(versioning={"enabled": versioned}, **soft, **lock)
    permissions = (*(f"storage.objects.{action}" for action in _OF_GCS), "storage.buckets.get")
    env("DRS_SECRET_GCP", json.dumps(server.service_account("keeper", *permissions)))

    def versions() -> list[Object]:
        bucket = server.buckets["records"]
        return [*bucket.former, *bucket.values()]

    def remove(name: str) -> None:
        bucket = server.buckets["records"]
        bucket.pop(name, None)
        bucket.former = [version for version in bucket.former if version.name != name]

    return CloudStorage(
        "gcp",
        {"bucket": "records", "prefix": "kept/here", "endpoint": server.url, "secret_ref": "env:DRS_SECRET_GCP"},
        server.front,
        lambda: [version.name for version in versions()],
        lambda: [version.body for version in versions()],
        lambda: [version.body for version in server.buckets["records"].soft_deleted],
        remove,
        lambda name, body: server.put("records", name, body) and None,
        lambda: server.buckets.clear(),
    )


def azure_container(
    cloud: AzureCloud,
    env: Callable[[str, str], None],
    *,
    locked: bool = False,
    versioned: bool = True,
    soft_delete_days: int = 0,
) -> CloudStorage:
    assert cloud.blobs is not None
    container = cloud.blobs.client.create_container("records")
    cloud.versions.versioned, cloud.versions.soft_delete_days = versioned, soft_delete_days
    if locked:
        cloud.blob_headers["x-ms-immutable-storage-with-versioning-enabled"] = "true"

    def versions() -> list[Blob]:
        return [blob for blob in cloud.versions.blobs if not blob.deleted_at]

    def remove(name: str) -> None:
        if cloud.versions.find(name):
            container.delete_blob(name)
        cloud.versions.blobs = [blob for blob in cloud.versions.blobs if blob.name != name]

    def replace(name: str, body: bytes) -> None:
        container.upload_blob(name, body, overwrite=True)
        cloud.versions.add(name, body)

    env("DRS_SECRET_AZURE", cloud.blobs.key)
    return CloudStorage(
        "azure",
        {
            "account": ACCOUNT,
            "container": "records",
            "prefix": "kept/here",
            "endpoint": f"{cloud.url}/{ACCOUNT}",
            "secret_ref": "env:DRS_SECRET_AZURE",
        },
        cloud.front,
        lambda: [blob.name for blob in versions()],
        lambda: [blob.body for blob in versions()],
        lambda: [blob.body for blob in cloud.versions.blobs if blob.deleted_at],
        remove,
        replace,
        container.delete_container,
    )
