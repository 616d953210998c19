"""Buckets in the emulators, each empty and ready to be an organization's storage target."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.aws_server import REGION, AwsServer
from tests.support.azure_cloud import AzureCloud
from tests.support.azurite import ACCOUNT
from tests.support.faults import Faults
from tests.support.gcs_server import Bucket, GcsServer
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


def amazon_bucket(server: AwsServer, env: Callable[[str, str], None], *, locked: bool = False) -> CloudStorage:
    s3 = server.client("s3")
    s3.create_bucket(Bucket="records", ObjectLockEnabledForBucket=locked)
    s3.put_bucket_versioning(Bucket="records", VersioningConfiguration={"Status": "Enabled"})
    env("DRS_SECRET_AWS", "test:test")

    def versions() -> list[dict[str, Any]]:
        found = s3.list_object_versions(Bucket="records")
        return [*found.get("Versions", ()), *found.get("DeleteMarkers", ())]

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
        remove,
        lambda name, body: s3.put_object(Bucket="records", Key=name, Body=body),
        drop,
    )


def google_bucket(server: GcsServer, env: Callable[[str, str], None], *, locked: bool = False) -> CloudStorage:
    lock = {"objectRetention": {"mode": "Enabled"}} if locked else {}
    server.buckets["records"] = Bucket(versioning={"enabled": True}, **lock)
    permissions = (*(f"storage.objects.{each}" for each in _OF_GCS), "storage.buckets.get")
    env("DRS_SECRET_GCP", json.dumps(server.service_account("keeper", *permissions)))

    def names() -> list[str]:
        bucket = server.buckets["records"]
        return [each.name for each in (*bucket.former, *bucket.values())]

    def remove(name: str) -> None:
        bucket = server.buckets["records"]
        bucket.pop(name, None)
        bucket.former = [each for each in bucket.former if each.name != name]

    return CloudStorage(
        "gcp",
        {"bucket": "records", "prefix": "kept/here", "endpoint": server.url, "secret_ref": "env:DRS_SECRET_GCP"},
        server.front,
        names,
        remove,
        lambda name, body: server.put("records", name, body) and None,
        lambda: server.buckets.clear(),
    )


def azure_container(cloud: AzureCloud, env: Callable[[str, str], None], *, locked: bool = False) -> CloudStorage:
    assert cloud.blobs is not None
    container = cloud.blobs.client.create_container("records")
    if locked:
        cloud.blob_headers["x-ms-immutable-storage-with-versioning-enabled"] = "true"
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
        lambda: list(container.list_blob_names()),
        lambda name: container.delete_blob(name),
        lambda name, body: container.upload_blob(name, body, overwrite=True) and None,
        container.delete_container,
    )
