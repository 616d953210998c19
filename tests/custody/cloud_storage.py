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
    """A bucket, what a target is configured with to use it, and what its owner may do to it."""

    provider: str
    config: dict[str, str]
    front: WebServer
    """Where requests arrive."""
    names: Callable[[], list[str]]
    """Of all objects and versions."""
    bodies: Callable[[], list[bytes]]
    """Whatever is still served, of any version."""
    recoverable: Callable[[], list[bytes]]
    """What soft delete keeps."""
    remove: Callable[[str], None]
    """An object, whatever it is."""
    replace: Callable[[str, bytes], None]
    drop: Callable[[], None]
    """The whole bucket."""

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
        found = s3.list_object_versions(Bucket="records")
        return [*found.get("Versions", ()), *found.get("DeleteMarkers", ())]

    def bodies() -> list[bytes]:
        found = s3.list_object_versions(Bucket="records").get("Versions", ())
        answers = [s3.get_object(Bucket="records", Key=each["Key"], VersionId=each["VersionId"]) for each in found]
        return [each["Body"].read() for each in answers]

    def remove(name: str) -> None:
        for each in versions():
            if each["Key"] == name:
                s3.delete_object(Bucket="records", Key=name, VersionId=each["VersionId"])

    def drop() -> None:
        for each in versions():
            s3.delete_object(Bucket="records", Key=each["Key"], VersionId=each["VersionId"])
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
        lambda: [each["Key"] for each in versions()],
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
    permissions = (*(f"storage.objects.{each}" for each in _OF_GCS), "storage.buckets.get")
    env("DRS_SECRET_GCP", json.dumps(server.service_account("keeper", *permissions)))

    def versions() -> list[Object]:
        bucket = server.buckets["records"]
        return [*bucket.former, *bucket.values()]

    def remove(name: str) -> None:
        bucket = server.buckets["records"]
        bucket.pop(name, None)
        bucket.former = [each for each in bucket.former if each.name != name]

    return CloudStorage(
        "gcp",
        {"bucket": "records", "prefix": "kept/here", "endpoint": server.url, "secret_ref": "env:DRS_SECRET_GCP"},
        server.front,
        lambda: [each.name for each in versions()],
        lambda: [each.body for each in versions()],
        lambda: [each.body for each in server.buckets["records"].soft_deleted],
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
        return [each for each in cloud.versions.blobs if not each.deleted_at]

    def remove(name: str) -> None:
        if cloud.versions.find(name):
            container.delete_blob(name)
        cloud.versions.blobs = [each for each in cloud.versions.blobs if each.name != name]

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
        lambda: [each.name for each in versions()],
        lambda: [each.body for each in versions()],
        lambda: [each.body for each in cloud.versions.blobs if each.deleted_at],
        remove,
        replace,
        container.delete_container,
    )
