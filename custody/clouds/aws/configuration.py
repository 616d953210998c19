"""Amazon Web Services: S3 for records, KMS for keys."""

import uuid
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import Field

from config.clouds import aws, name_patterns
from config.clouds.aws import Credentials, Guard
from config.vetted_http import Connections
from custody.clouds.configuration import CloudConfiguration, CloudRefusal, Endpoint, Prefix, SecretRef, like

_ID = r"(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_ARN = r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}"
_ALIAS = r"alias/(?!aws/)[\w/-]{1,250}"  # not alias/aws/…: a call that describes one of these can create it
_KEY = rf"({_ID}|{_ALIAS}|{_ARN}:(key/{_ID}|{_ALIAS}))"

Key = Annotated[
    str,
    like(
        _KEY,
        "Write the ARN, the id or the alias of a key of your own. A key that Amazon manages (alias/aws/…) cannot be "
        "used here.",
    ),
]

STORAGE_PERMISSIONS = ("s3:PutObject", "s3:GetObject", "s3:DeleteObjectVersion")
"""Permissions of a vault on its objects."""
LOCKED_STORAGE_PERMISSIONS = ("s3:PutObjectRetention", "s3:GetObjectRetention", "s3:GetObjectVersion")
"""Further permissions on objects, where they are locked."""
BUCKET_PERMISSIONS = ("s3:ListBucket", "s3:ListBucketVersions")
WRAPPING_PERMISSIONS = ("kms:GenerateDataKey", "kms:Decrypt")
SIGNING_PERMISSIONS = ("kms:Sign", "kms:GetPublicKey")


class NoCredentials(CloudRefusal):
    """The secret is not an access key."""

    def __init__(self) -> None:
        super().__init__(
            "The secret is not an access key.",
            "Let secret_ref name a secret of the form ACCESS_KEY_ID:SECRET_ACCESS_KEY.",
        )


class NotYourExternalId(CloudRefusal):
    """The external id is another organization's."""

    def __init__(self, organization_id: uuid.UUID) -> None:
        super().__init__("The external id is not yours.", f"It is always your organization's id, {organization_id}.")


class Configuration(CloudConfiguration, use_attribute_docstrings=True):
    credentials: ClassVar = "Set secret_ref, or role_arn, or both."
    bucket: Annotated[
        str, like(name_patterns.AWS_BUCKET, "A bucket's name has 3 to 63 lowercase letters, digits, dots and hyphens.")
    ]
    """Enter the bucket for records."""
    region: Annotated[str, like(name_patterns.AWS_REGION, "Not a valid region, such as eu-central-1.")]
    """Enter the region of the bucket and of the keys."""
    prefix: Prefix = ""
    """Enter a start for the names of objects. Leave it blank for none."""
    kms_key: Key = ""
    """Enter the ARN, ID or alias of a symmetric KMS key, to wrap the keys of records."""
    signing_key: Key = ""
    """Enter a KMS key to sign records: Ed25519, or ECDSA on P-256."""
    account_id: Annotated[str, like(r"\d{12}", "An account id has 12 digits.")] = ""
    """Enter the account that must own the bucket."""
    secret_ref: SecretRef = ""
    """Enter a reference to the secret `ACCESS_KEY_ID:SECRET_ACCESS_KEY`. A session token may follow it."""
    role_arn: Annotated[
        str, Field(max_length=256), like(name_patterns.AWS_ROLE, "Write arn:aws:iam::ACCOUNT_ID:role/NAME.")
    ] = ""
    """Enter a role to assume. Its external ID must be this organization's ID."""
    external_id: Annotated[str, Field(max_length=64)] = ""
    """Leave it blank, or enter this organization's ID."""
    endpoint: Endpoint = ""
    """Enter the address of an S3-compatible service. Leave it blank for Amazon's."""
    kms_endpoint: Endpoint = ""
    """Enter the address of a KMS-compatible service. Leave it blank for Amazon's."""
    sts_endpoint: Endpoint = ""
    """Enter the address of an STS-compatible service. Leave it blank for Amazon's."""

    def lacks_credentials(self) -> bool:
        return not (self.secret_ref or self.role_arn)

    @property
    def bucket_parameters(self) -> dict[str, str]:
        """Return the parameters of every call about the bucket. They have S3 refuse a bucket of another account."""
        return {"Bucket": self.bucket, **({"ExpectedBucketOwner": self.account_id} if self.account_id else {})}

    def endpoint_of(self, service: str) -> str:
        """Return a service's endpoint; "" for Amazon's. STS and IAM share one."""
        return {"s3": self.endpoint, "kms": self.kms_endpoint}.get(service, self.sts_endpoint)


def credentials(
    configuration: Configuration, connections: Connections, *, organization_id: uuid.UUID, guard: Guard | None = None
) -> Credentials:
    """Return the credentials that a configuration names. A role's are valid for an hour.

    Raises:
        NoCredentials, NotYourExternalId, RoleIsOpen
        SecretUnavailable
        botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError
    """
    if configuration.external_id not in ("", str(organization_id)):
        raise NotYourExternalId(organization_id)
    own = _access_key(configuration.secret(organization_id))
    if configuration.role_arn:
        return aws.assume_role(
            connections,
            configuration.role_arn,
            external_id=str(organization_id),
            region=configuration.region,
            credentials=own,
            endpoint=configuration.sts_endpoint,
            guard=guard,
        )
    if own is None:
        raise NoCredentials
    return own


def client(
    service: str,
    configuration: Configuration,
    connections: Connections,
    credentials: Credentials,
    *,
    guard: Guard | None = None,
) -> Any:
    """Return a client of `s3`, `kms`, `sts` or `iam`."""
    make = aws.s3 if service == "s3" else partial(aws.client, service)
    return make(
        connections,
        credentials,
        region=configuration.region,
        endpoint=configuration.endpoint_of(service),
        guard=guard,
    )


def _access_key(secret: str) -> Credentials | None:
    if not secret:
        return None
    parts = secret.strip().split(":", 2)
    if len(parts) < 2 or not all(parts) or not secret.isascii():
        raise NoCredentials
    return Credentials(*parts)
