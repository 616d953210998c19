"""Questions to Amazon Web Services."""

import json
import re
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, ClassVar

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError

from config.clouds.aws import Credentials, RoleIsOpen
from custody.clouds.aws import configuration as aws
from custody.clouds.aws import key_proof, object_proof
from custody.clouds.aws.configuration import Configuration
from custody.clouds.proof import CallRefused, Cloud, Finding, Question, busy, denied, failed, passed, skipped, warned

ALLOWED = frozenset(
    {
        "sts:AssumeRole",
        "sts:GetCallerIdentity",
        "s3:HeadBucket",
        "s3:GetBucketVersioning",
        "s3:GetObjectLockConfiguration",
        "s3:GetBucketEncryption",
        "s3:GetPublicAccessBlock",
        "s3:ListObjectVersions",
        "s3:PutObject",
        "s3:GetObject",
        "s3:GetObjectRetention",
        "s3:PutObjectRetention",
        "s3:DeleteObject",
        "kms:DescribeKey",
        "kms:GetPublicKey",
        "kms:GenerateDataKey",
        "kms:Decrypt",
        "kms:Sign",
        "iam:SimulatePrincipalPolicy",
    }
)
"""All calls that a test may send. With the conditions of `guard`, they change nothing."""
DRY = frozenset({"kms:GenerateDataKey", "kms:Decrypt", "kms:Sign"})
"""Calls that are sent only with DryRun: KMS then says whether it would do them."""

_NOT_SIGNED_IN = {
    "AuthFailure",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_ELSEWHERE = {
    "301",
    "307",
    "400",
    "AuthorizationHeaderMalformed",
    "IllegalLocationConstraintException",
    "PermanentRedirect",
}
_BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


def guard(model: Any, params: dict[str, Any], **_: Any) -> None:
    """Check a call at botocore's `before-call`, below the client. Raises CallRefused."""
    call = f"{model.service_model.service_name}:{model.name}"
    if call not in ALLOWED:
        raise CallRefused(call)
    if call in object_proof.OF_OBJECTS:
        object_proof.require_without_effect(call, params)
    if call.startswith("kms:"):
        sent = json.loads(params["body"])
        if call in DRY and sent.get("DryRun") is not True:
            raise CallRefused(f"{call} without DryRun")
        if re.search("alias/aws/", str(sent.get("KeyId")), re.IGNORECASE):  # DescribeKey can create such a key
            raise CallRefused(f"{call} of a key that Amazon manages")


@dataclass
class Amazon(Cloud):
    configuration: Configuration
    errors: ClassVar = (ClientError, BotoCoreError, ResponseParserError, RoleIsOpen, ValueError)  # ValueError: address
    credentials: Credentials | None = None
    arn: str = ""
    """The identity of the credentials; "" where the service was not asked."""
    is_locked: bool | None = None
    """Whether the bucket has Object Lock; None if it is not known."""
    bucket_key: str | None = None
    """The customer's key that the bucket encrypts with; "" if there is none, None if it is not known."""
    algorithm: str = ""
    """Algorithm of the signing key."""
    _clients: dict[str, Any] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def client(self, service: str) -> Any:
        with self._lock:
            if service not in self._clients:
                assert self.credentials is not None  # noqa: S101 - the question "credentials" comes first
                self._clients[service] = aws.client(
                    service, self.configuration, self.connections, self.credentials, guard=guard
                )
            return self._clients[service]

    @property
    def bucket_arn(self) -> str:
        return f"arn:{_partition(self.configuration.region)}:s3:::{self.configuration.bucket}"

    def required(self) -> tuple[str, ...]:
        return (
            *aws.BUCKET_PERMISSIONS,
            *aws.STORAGE_PERMISSIONS,
            *(() if self.is_locked is False else aws.LOCKED_STORAGE_PERMISSIONS),
            *(aws.WRAPPING_PERMISSIONS if self.configuration.kms_key else ()),
            *(aws.SIGNING_PERMISSIONS if self.configuration.signing_key else ()),
            *(() if self.bucket_key == "" else ("bucket_key_wrap", "bucket_key_unwrap")),
        )

    def refusal(self, error: Exception, question: Question) -> Finding:
        if isinstance(error, RoleIsOpen):
            return failed(error.sentence, _trust(self))
        if isinstance(error, NoCredentialsError):
            detail = "This service has no Amazon identity that could assume the role."
            return failed(detail, "Set secret_ref, or ask the operator of this service to give it one.")
        if not isinstance(error, ClientError):
            return failed("The endpoint gives no sensible answer.", "Check region and endpoints.")
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in _EXPIRED:
            return failed("The credentials have expired.", "Replace the secret that secret_ref names.")
        if code in _NOT_SIGNED_IN:
            detail = f"The credentials are not accepted ({code})."
            return failed(detail, "Check the secret that secret_ref names: ACCESS_KEY_ID:SECRET_ACCESS_KEY.")
        if question.id == "permissions" and code in ("InvalidInput", "NoSuchEntity"):  # a federated user or a path
            return skipped("The policies of this identity cannot be simulated.", "Set role_arn, or use a user's key.")
        if code == "MethodNotAllowed" or status == 501:
            if question.id == "encryption":
                self.bucket_key = ""
            return skipped("This S3-compatible service does not know the setting.")
        where = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("x-amz-bucket-region")
        is_elsewhere = code in _ELSEWHERE or (where and where != self.configuration.region)
        if question.call.startswith("s3:") and is_elsewhere:
            return _elsewhere(where)
        if status == 403 or code.startswith("AccessDenied"):
            if question.id == "credentials":
                return failed("The role cannot be assumed.", _trust(self))
            return denied(question, _where(self, question))
        return _known(code) or (busy(code or str(status)) if status == 429 or status >= 500 else _unknown(code, status))


def _where(cloud: Amazon, question: Question) -> str:
    """Return the resource on which a missing permission must be granted."""
    if question.call.startswith("iam:"):
        return f"{cloud.arn}, the identity that asks"
    if question.call in object_proof.OF_OBJECTS:
        objects = f"{cloud.bucket_arn}/{cloud.configuration.folder}*"
        return f"{objects}, and let no bucket policy deny it"
    return cloud.bucket_arn if question.call.startswith("s3:") else "this key, in its key policy too"


def _known(code: str) -> Finding | None:
    return {
        "NoSuchBucket": failed("There is no bucket of this name.", "Check bucket and endpoint."),
        "404": failed("There is no bucket of this name.", "Check bucket and endpoint."),
        "NotFoundException": failed("There is no such key in this region and account.", "Check the key, and region."),
        "InvalidArnException": failed("The key's ARN is not one of this region.", "Check the key, and region."),
        "DisabledException": failed("The key is disabled.", key_proof.UNUSABLE["Disabled"]),
        "KMSInvalidStateException": failed(
            "The key's state forbids this.", "Look at the state of the key, and bring it back to Enabled."
        ),
        "KeyUnavailableException": failed("The key cannot be used at the moment.", "Try again later."),
        "InvalidKeyUsageException": failed("The key is made for something else.", "Name a key of the right usage."),
        "ThrottlingException": busy(code),
        "SlowDown": busy(code),
    }.get(code)


def _unknown(code: str, status: int) -> Finding:
    return failed(f"The request is refused ({code or status}).", "Check region and endpoints.")


def _trust(cloud: Cloud) -> str:
    return (
        "Let the role's trust policy allow sts:AssumeRole to this service, on the condition that sts:ExternalId is "
        f"{cloud.organization_id}."
    )


def _partition(region: str) -> str:
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rpartition("-")[0].rpartition("-")[0], "aws")


def _elsewhere(region: str | None) -> Finding:
    where = f"The bucket is in {region}." if region else "The bucket is in another region."
    return failed(where, f"Set region to {region}." if region else "Set region to that of the bucket.")


def _credentials(cloud: Amazon) -> Finding:
    cloud.credentials = aws.credentials(
        cloud.configuration, cloud.connections, organization_id=cloud.organization_id, guard=guard
    )
    if cloud.configuration.endpoint and not cloud.configuration.sts_endpoint:
        return skipped("An S3-compatible service is asked about storage alone. Set sts_endpoint to ask about this too.")
    cloud.arn = cloud.client("sts").get_caller_identity()["Arn"]
    return passed(f"Signed in as {cloud.arn}.")


def _bucket(cloud: Amazon) -> Finding:
    try:
        region = cloud.client("s3").head_bucket(**cloud.configuration.bucket_parameters).get("BucketRegion")
    except ClientError as error:
        if error.response["Error"]["Code"] == "403" and cloud.configuration.account_id:
            cloud.client("s3").head_bucket(Bucket=cloud.configuration.bucket)
            return failed("The bucket belongs to another account than account_id.", "Check bucket and account_id.")
        raise
    if region and region != cloud.configuration.region:
        return _elsewhere(region)
    return passed(f"The bucket is there{f', in {region}' if region else ''}.")


def _versioning(cloud: Amazon) -> Finding:
    if cloud.client("s3").get_bucket_versioning(**cloud.configuration.bucket_parameters).get("Status") == "Enabled":
        return passed("Versioning is on.")
    return warned(
        "Versioning is off: what others overwrite in this bucket is lost.",
        "Turn versioning on: s3:PutBucketVersioning with Status=Enabled.",
    )


def _object_lock(cloud: Amazon) -> Finding:
    off = warned(
        "Object Lock is off: anyone who may delete objects can delete records.",
        "Create the bucket with Object Lock, or turn it on: s3:PutObjectLockConfiguration.",
    )
    try:
        settings = cloud.client("s3").get_object_lock_configuration(**cloud.configuration.bucket_parameters)[
            "ObjectLockConfiguration"
        ]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ObjectLockConfigurationNotFoundError":
            cloud.is_locked = False
            return off
        raise
    if settings.get("ObjectLockEnabled") != "Enabled":
        cloud.is_locked = False
        return off
    cloud.is_locked = True
    rule = settings.get("Rule", {}).get("DefaultRetention", {})
    lasts = f" By default {rule.get('Mode', '')} for {rule.get('Days') or rule.get('Years')}" if rule else ""
    unit = (" days." if "Days" in rule else " years.") if rule else ""
    return passed(f"Object Lock is on.{lasts}{unit}")


def _encryption(cloud: Amazon) -> Finding:
    fix = (
        "Turn default encryption on: s3:PutEncryptionConfiguration, with aws:kms and a key of your own if you want one."
    )
    try:
        settings = cloud.client("s3").get_bucket_encryption(**cloud.configuration.bucket_parameters)[
            "ServerSideEncryptionConfiguration"
        ]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ServerSideEncryptionConfigurationNotFoundError":
            cloud.bucket_key = ""
            return warned("The bucket does not encrypt by itself. Records are sealed all the same.", fix)
        raise
    defaults = [rule.get("ApplyServerSideEncryptionByDefault", {}) for rule in settings["Rules"]]
    keys = [default.get("KMSMasterKeyID", "") for default in defaults]
    cloud.bucket_key = next((key for key in keys if key and "alias/aws/" not in key), "")
    kinds = {default.get("SSEAlgorithm", "") for default in defaults}
    return passed(f"The bucket encrypts with {', '.join(sorted(kinds))}. Records are sealed besides.")


def _public_access(cloud: Amazon) -> Finding:
    fix = "Turn all four settings of Block Public Access on: s3:PutBucketPublicAccessBlock."
    try:
        settings = cloud.client("s3").get_public_access_block(**cloud.configuration.bucket_parameters)[
            "PublicAccessBlockConfiguration"
        ]
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchPublicAccessBlockConfiguration":
            return failed("Nothing keeps the bucket from being public.", fix)
        raise
    open_ = [name for name in _BLOCKS if not settings.get(name)]
    if open_:
        return failed(f"The bucket can be made public: {', '.join(open_)} is off.", fix)
    return passed("Public access is blocked.")


CLOUD = Amazon
QUESTIONS = [
    Question("credentials", "sts:GetCallerIdentity", "", _credentials, needs=""),
    Question("bucket", "s3:HeadBucket", "s3:ListBucket", _bucket, covers=("s3:ListBucket",)),
    Question("versioning", "s3:GetBucketVersioning", "s3:GetBucketVersioning", _versioning, if_denied="warn"),
    Question(
        "object_lock",
        "s3:GetObjectLockConfiguration",
        "s3:GetBucketObjectLockConfiguration",
        _object_lock,
    ),
    Question("encryption", "s3:GetBucketEncryption", "s3:GetEncryptionConfiguration", _encryption, if_denied="warn"),
    Question(
        "public_access", "s3:GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock", _public_access, if_denied="warn"
    ),
    Question(
        "put",
        "s3:PutObject",
        "s3:PutObject",
        object_proof.put,
        "bucket",
        covers=("s3:PutObject",),
    ),
    Question(
        "lock",
        "s3:PutObjectRetention",
        "s3:PutObjectRetention",
        object_proof.lock,
        "object_lock",
        covers=("s3:PutObjectRetention",),
    ),
    Question("get", "s3:GetObject", "s3:GetObject", object_proof.get, "bucket", covers=("s3:GetObject",)),
    Question(
        "get_version",
        "s3:GetObject",
        "s3:GetObjectVersion",
        object_proof.get_version,
        "object_lock",
        covers=("s3:GetObjectVersion",),
    ),
    Question(
        "retention",
        "s3:GetObjectRetention",
        "s3:GetObjectRetention",
        object_proof.retention,
        "object_lock",
        covers=("s3:GetObjectRetention",),
    ),
    Question(
        "delete",
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        object_proof.delete,
        "bucket",
        covers=("s3:DeleteObjectVersion",),
    ),
    Question(
        "list_versions",
        "s3:ListObjectVersions",
        "s3:ListBucketVersions",
        object_proof.list_versions,
        "bucket",
        covers=("s3:ListBucketVersions",),
    ),
    Question(
        "bucket_key", "kms:DescribeKey", "kms:DescribeKey", key_proof.bucket_key, "encryption", if_denied="skipped"
    ),
    Question("bucket_key_wrap", "kms:GenerateDataKey", "kms:GenerateDataKey", key_proof.bucket_key_wrap, "encryption"),
    Question("bucket_key_unwrap", "kms:Decrypt", "kms:Decrypt", key_proof.bucket_key_unwrap, "encryption"),
    Question("wrapping_key", "kms:DescribeKey", "kms:DescribeKey", key_proof.wrapping_key),
    Question("wrap", "kms:GenerateDataKey", "kms:GenerateDataKey", key_proof.wrap, covers=("kms:GenerateDataKey",)),
    Question("unwrap", "kms:Decrypt", "kms:Decrypt", key_proof.unwrap, covers=("kms:Decrypt",)),
    Question("signing_key", "kms:DescribeKey", "kms:DescribeKey", key_proof.signing_key),
    Question("sign", "kms:Sign", "kms:Sign", key_proof.sign, needs="signing_key", covers=("kms:Sign",)),
    Question("public_key", "kms:GetPublicKey", "kms:GetPublicKey", key_proof.public_key, covers=("kms:GetPublicKey",)),
    Question(
        "permissions",
        "iam:SimulatePrincipalPolicy",
        "iam:SimulatePrincipalPolicy",
        object_proof.permissions,
        needs="object_lock",
        if_denied="skipped",
        covers=aws.STORAGE_PERMISSIONS + aws.LOCKED_STORAGE_PERMISSIONS + aws.BUCKET_PERMISSIONS,
        is_claim=True,
    ),
]
