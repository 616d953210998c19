"""Customers' accounts in good order, one with each provider, for tests that then spoil them."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from custody.clouds import proving
from custody.clouds.aws import configuration as aws
from custody.clouds.gcp import configuration as gcp
from custody.clouds.proving import Check
from tests.support.aws_server import ACCOUNT, REGION, AwsServer
from tests.support.azure_cloud import GROUP, SUBSCRIPTION, TENANT, AzureCloud
from tests.support.azurite import ACCOUNT as STORAGE_ACCOUNT
from tests.support.gcs_server import Bucket, GcsServer
from tests.support.web_server import Reply, Request

SETTINGS = ("s3:GetBucketVersioning", "s3:GetBucketObjectLockConfiguration", "s3:GetEncryptionConfiguration")
OF_BUCKET = [*aws.BUCKET_PERMISSIONS, *SETTINGS, "s3:GetBucketPublicAccessBlock"]
OF_OBJECTS = [*aws.STORAGE_PERMISSIONS, *aws.LOCKED_STORAGE_PERMISSIONS]
OF_KEYS = [*aws.WRAPPING_PERMISSIONS, *aws.SIGNING_PERMISSIONS, "kms:DescribeKey"]


@dataclass
class Account:
    """A provider's emulator, and the configuration of the customer's account in it."""

    provider: str
    server: Any
    config: dict[str, str]
    environment: pytest.MonkeyPatch
    organization_id: uuid.UUID = field(default_factory=uuid.uuid4)
    not_proven: list[str] = field(default_factory=list)
    """The result of the last test."""
    stored: list[str] = field(default_factory=list)
    """The objects that the cloud stored in the last test."""

    def use_secret(self, secret: str) -> None:
        self.environment.setenv("DRS_SECRET_CLOUD", secret)

    def answer_with(self, meant: Callable[[Request], bool], body: bytes, status: int = 200) -> None:
        """Replace the emulator's answer to the requests that `meant` selects."""
        front = self.server.front
        real = front.answer
        self.environment.setattr(
            front, "answer", lambda request: Reply(body, status) if meant(request) else real(request)
        )

    def prove(self, **changes: str) -> dict[str, Check]:
        """Return the checks of a test by id. An empty value removes a setting from the configuration."""
        config = {name: value for name, value in {**self.config, **changes}.items() if value}
        checks, self.not_proven, self.stored = proving.prove(
            self.provider, config, organization_id=self.organization_id
        )
        assert [check.id for check in checks] == ["configuration", *(q.id for q in proving.questions(self.provider))]
        return {check.id: check for check in checks}


def amazon_account(server: AwsServer, environment: pytest.MonkeyPatch) -> Account:
    s3 = server.client("s3")
    s3.create_bucket(Bucket="records", ObjectLockEnabledForBucket=True)
    wrapping, signing = server.key(), server.key("ECC_NIST_EDWARDS25519")
    secret = server.person(
        "custody",
        (OF_BUCKET, "arn:aws:s3:::records"),
        (OF_OBJECTS, "arn:aws:s3:::records/*"),
        (OF_KEYS, "*"),
        ("iam:SimulatePrincipalPolicy", "*"),
    )
    config = {
        "bucket": "records",
        "region": REGION,
        "account_id": ACCOUNT,
        "secret_ref": "env:DRS_SECRET_CLOUD",
        "kms_key": wrapping,
        "signing_key": signing,
        "endpoint": server.url,
        "kms_endpoint": server.url,
        "sts_endpoint": server.url,
    }
    account = Account("aws", server, config, environment)
    account.use_secret(secret)
    return account


OF_GOOGLE = (
    *gcp.STORAGE_PERMISSIONS,
    *gcp.WRAPPING_PERMISSIONS,
    *gcp.SIGNING_PERMISSIONS,
    "storage.buckets.get",
    "cloudkms.cryptoKeys.get",
    "cloudkms.cryptoKeyVersions.get",
    "cloudkms.cryptoKeys.getIamPolicy",
)
AGENT = "serviceAccount:service-42@gs-project-accounts.iam.gserviceaccount.com"


def google_account(server: GcsServer, environment: pytest.MonkeyPatch) -> Account:
    wrapping, signing = server.kms.key("wrapping"), server.kms.key("signing", "EC_SIGN_ED25519")
    of_bucket = server.kms.key("of-bucket")
    of_bucket.bindings = [{"role": "roles/cloudkms.cryptoKeyEncrypterDecrypter", "members": [AGENT]}]
    server.buckets["records"] = Bucket(
        projectNumber="42",
        versioning={"enabled": True},
        retentionPolicy={"retentionPeriod": "3600", "isLocked": True},
        encryption={"defaultKmsKeyName": of_bucket.name},
    )
    server.granted.pop("custody@tests.iam.gserviceaccount.com", None)
    config = {
        "bucket": "records",
        "kms_key": wrapping.name,
        "signing_key": signing.version,
        "secret_ref": "env:DRS_SECRET_CLOUD",
        "endpoint": server.url,
        "kms_endpoint": server.url,
    }
    account = Account("gcp", server, config, environment)
    account.use_secret(json.dumps(server.service_account("custody", *OF_GOOGLE)))
    return account


def microsoft_account(server: AzureCloud, environment: pytest.MonkeyPatch) -> Account:
    server.blobs.client.create_container("records")  # type: ignore[union-attr]
    server.blob_headers = {"x-ms-has-immutability-policy": "true"}
    identity, secret = server.application("blobs", "arm", "get", "wrapKey", "unwrapKey", "sign")
    config = {
        "account": STORAGE_ACCOUNT,
        "container": "records",
        "tenant_id": TENANT,
        "client_id": identity,
        "secret_ref": "env:DRS_SECRET_CLOUD",
        "subscription_id": SUBSCRIPTION,
        "resource_group": GROUP,
        "kms_key": server.vault.key("wrapping"),
        "signing_key": server.vault.key("signing", "EC"),
        "endpoint": f"{server.url}/{STORAGE_ACCOUNT}",
        "login_endpoint": server.url,
        "arm_endpoint": server.url,
    }
    account = Account("azure", server, config, environment)
    account.use_secret(secret)
    return account
