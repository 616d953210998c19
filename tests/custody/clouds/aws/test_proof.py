"""Custody tests of AWS: what each fault fails, and what stays unproven."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.custody.clouds.accounts import OF_BUCKET, OF_KEYS, OF_OBJECTS, Account
from tests.custody.clouds.faults_of_accounts import Case, Spoil, check, check_stored, check_unproven, nonsense
from tests.support.web_server import Reply, Request

pytestmark = [pytest.mark.once, pytest.mark.boots]


def s3(account: Account) -> Any:
    return account.server.client("s3")


def kms(account: Account) -> Any:
    return account.server.client("kms")


def _key_state(which: str, state: str) -> Spoil:
    def spoil(account: Account) -> None:
        key = account.config[which]
        kms(account).disable_key(KeyId=key)
        if state == "pending":
            kms(account).schedule_key_deletion(KeyId=key, PendingWindowInDays=7)

    return spoil


def _without(*actions: str) -> Spoil:
    """Withdraw permissions from the same identity."""

    def spoil(account: Account) -> None:
        remaining = [
            ([action for action in OF_BUCKET if action not in actions], "arn:aws:s3:::records"),
            ([action for action in OF_OBJECTS if action not in actions], "arn:aws:s3:::records/*"),
            ([action for action in OF_KEYS if action not in actions], "*"),
            ("iam:SimulatePrincipalPolicy" if "iam" not in actions else "iam:GetUser", "*"),
        ]
        account.server.allow("custody", *remaining)

    return spoil


def _denied_by_policy(account: Account, objects: str = "*") -> None:
    resource = f"arn:aws:s3:::records/{objects}"
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": resource}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    s3(account).put_bucket_policy(Bucket="records", Policy=json.dumps(policy))


def _prefix_denied_by_policy(account: Account) -> dict[str, str]:
    """Deny the folder of a prefix that is given without a slash at its end."""
    _denied_by_policy(account, "tenant/*")
    return {"prefix": "tenant"}


def _bucket_key(state: str) -> Spoil:
    """Have the bucket encrypt with another key of the customer in this state."""

    def spoil(account: Account) -> None:
        key = account.server.key()
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
        s3(account).put_bucket_encryption(Bucket="records", ServerSideEncryptionConfiguration=rules)
        if state != "enabled":
            kms(account).disable_key(KeyId=key)
        if state == "pending":
            kms(account).schedule_key_deletion(KeyId=key, PendingWindowInDays=7)

    return spoil


def _elsewhere(account: Account) -> dict[str, str]:
    where = {"LocationConstraint": "eu-west-1"}
    account.server.client("s3", region="eu-west-1").create_bucket(Bucket="west", CreateBucketConfiguration=where)
    return {"bucket": "west"}


def _public(account: Account) -> None:
    s3(account).delete_public_access_block(Bucket="records")


def _half_public(account: Account) -> None:
    block = {
        "BlockPublicAcls": True,
        "IgnorePublicAcls": True,
        "BlockPublicPolicy": False,
        "RestrictPublicBuckets": True,
    }
    s3(account).put_public_access_block(Bucket="records", PublicAccessBlockConfiguration=block)


def _plain_bucket(account: Account) -> dict[str, str]:
    s3(account).create_bucket(Bucket="plain")
    every = ("s3:*", "*"), ("kms:*", "*"), ("iam:SimulatePrincipalPolicy", "*")
    account.server.allow("custody", *every)
    return {"bucket": "plain"}


def _wrong_secret(account: Account) -> None:
    account.use_secret("AKIA0000000000000000:hunter2")


def _expired(account: Account) -> None:
    answer = b"<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>"
    account.answer_with(lambda request: b"GetCallerIdentity" in request.body, answer, 403)


ARN = "arn:aws:kms:eu-west-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"
AMAZON: list[Case] = [
    ("wrong bucket", lambda a: {"bucket": "absent"}, "bucket", "fail", "Check bucket"),
    ("wrong region", _elsewhere, "bucket", "fail", "Set region to eu-west-1."),
    ("no permission", _without("s3:ListBucket"), "bucket", "fail", "Allow s3:ListBucket on arn:aws:s3:::records."),
    ("no permission to read", _without("s3:GetBucketVersioning"), "versioning", "warn", "Allow s3:GetBucketVersioning"),
    (
        "no look at the lock",
        _without("iam", "s3:GetBucketObjectLockConfiguration"),
        "object_lock",
        "fail",
        "Allow s3:GetBucketObjectLockConfiguration",
    ),
    ("no permission for objects", _without("s3:PutObject"), "permissions", "fail", "Allow s3:PutObject"),
    ("no permission to look", _without("iam"), "permissions", "skipped", "Allow iam:SimulatePrincipalPolicy on arn:"),
    ("no put", _without("iam", "s3:PutObject"), "put", "fail", "Allow s3:PutObject on arn:aws:s3:::records/*"),
    ("no get", _without("iam", "s3:GetObject"), "get", "fail", "Allow s3:GetObject on arn:aws:s3:::records/*"),
    ("no get of versions", _without("iam", "s3:GetObjectVersion"), "get_version", "fail", "Allow s3:GetObjectVersion"),
    ("no look at locks", _without("iam", "s3:GetObjectRetention"), "retention", "fail", "Allow s3:GetObjectRetention"),
    ("no locks", _without("iam", "s3:PutObjectRetention"), "lock", "fail", "Allow s3:PutObjectRetention"),
    ("no delete", _without("iam", "s3:DeleteObjectVersion"), "delete", "fail", "Allow s3:DeleteObjectVersion"),
    ("no list of versions", _without("s3:ListBucketVersions"), "list_versions", "fail", "Allow s3:ListBucketVersions"),
    ("no public key", _without("kms:GetPublicKey"), "public_key", "fail", "Allow kms:GetPublicKey"),
    ("bucket policy that denies a prefix", _prefix_denied_by_policy, "put", "fail", "let no bucket policy deny it"),
    ("bucket policy that denies", _denied_by_policy, "put", "fail", "let no bucket policy deny it"),
    ("disabled key of the bucket", _bucket_key("disabled"), "bucket_key", "fail", "kms:EnableKey"),
    ("disabled key of the bucket, tried", _bucket_key("disabled"), "bucket_key_wrap", "fail", "kms:EnableKey"),
    ("bucket's key pending deletion", _bucket_key("pending"), "bucket_key", "fail", "kms:CancelKeyDeletion"),
    ("no permission of the key", _without("kms:DescribeKey"), "wrapping_key", "fail", "Allow kms:DescribeKey"),
    ("no permission to wrap", _without("kms:GenerateDataKey"), "wrap", "fail", "Allow kms:GenerateDataKey"),
    ("no permission to unwrap", _without("kms:Decrypt"), "unwrap", "fail", "Allow kms:Decrypt"),
    ("no permission to sign", _without("kms:Sign"), "sign", "fail", "Allow kms:Sign"),
    ("disabled key", _key_state("kms_key", "disabled"), "wrapping_key", "fail", "kms:EnableKey"),
    ("pending deletion", _key_state("kms_key", "pending"), "wrapping_key", "fail", "kms:CancelKeyDeletion"),
    ("disabled signing key", _key_state("signing_key", "disabled"), "signing_key", "fail", "kms:EnableKey"),
    ("key of another region", lambda a: {"kms_key": ARN}, "wrapping_key", "fail", "Name a key of this region"),
    (
        "key that is absent",
        lambda a: {"kms_key": ARN.replace("eu-west-1", "us-east-1")},
        "wrapping_key",
        "fail",
        "Check",
    ),
    (
        "key for something else",
        lambda a: {"kms_key": a.config["signing_key"]},
        "wrapping_key",
        "fail",
        "ENCRYPT_DECRYPT",
    ),
    ("key of Amazon's", lambda a: {"kms_key": "alias/aws/s3"}, "configuration", "fail", "Name bucket, region"),
    ("another account's bucket", lambda a: {"account_id": "111111111111"}, "bucket", "fail", "account_id"),
    ("versioning off", _plain_bucket, "versioning", "warn", "s3:PutBucketVersioning"),
    ("lock off", _plain_bucket, "object_lock", "warn", "s3:PutObjectLockConfiguration"),
    ("public bucket", _public, "public_access", "fail", "s3:PutBucketPublicAccessBlock"),
    ("half public bucket", _half_public, "public_access", "fail", "s3:PutBucketPublicAccessBlock"),
    ("bad credentials", _wrong_secret, "credentials", "fail", "ACCESS_KEY_ID:SECRET_ACCESS_KEY"),
    ("no credentials", lambda a: {"secret_ref": "env:DRS_SECRET_NONE"}, "credentials", "fail", "operator"),
    ("expired credentials", _expired, "credentials", "fail", "Replace the secret"),
    ("unreachable", lambda a: {"endpoint": "http://localhost:1"}, "bucket", "fail", "firewall"),
    ("unreachable keys", lambda a: {"kms_endpoint": "http://localhost:1"}, "wrap", "fail", "firewall"),
    ("private address", lambda a: {"endpoint": "https://10.0.0.1"}, "bucket", "fail", "ALLOWED_PRIVATE_HOSTS"),
    ("no such host", lambda a: {"endpoint": "https://storage.invalid"}, "bucket", "fail", "endpoint"),
    ("root", lambda a: a.use_secret("test:test"), "permissions", "warn", "Use a role"),
    ("nonsense", nonsense(action=b"GetCallerIdentity"), "credentials", "fail", "Check region and endpoints"),
    ("storage alone", lambda a: {"sts_endpoint": ""}, "credentials", "skipped", ""),
]


@pytest.mark.parametrize("case", AMAZON, ids=lambda case: case[0])
def test_each_negative_of_aws_names_its_check_and_its_fix(of_amazon: Account, case: Case) -> None:
    check(of_amazon, case)


UNPROVEN: list[tuple[Spoil, list[str]]] = [
    (_without("iam"), []),
    (_bucket_key("enabled"), []),
    (_without("s3:GetEncryptionConfiguration"), ["bucket_key_wrap", "bucket_key_unwrap"]),
    (_without("kms:Decrypt"), ["kms:Decrypt"]),
    (_denied_by_policy, ["s3:PutObject"]),  # which the identity's policies allow
    (_without("s3:PutObjectRetention"), ["s3:PutObjectRetention"]),
]


@pytest.mark.parametrize(("spoil", "names"), UNPROVEN)
def test_a_test_of_aws_names_the_unproven_needs(of_amazon: Account, spoil: Spoil, names: list[str]) -> None:
    check_unproven(of_amazon, spoil, names)


def _ignore_conditions(account: Account, **lock: Any) -> None:
    """Store what a custody test puts, as a service does that knows no conditions."""
    front = account.server.front
    real = front.answer

    def answer(request: Request) -> Reply:
        if not request.headers.get("If-Match"):
            return real(request)
        assert not [name for name in request.headers if "object-lock" in name.lower()]
        key = request.path.removeprefix("/records/")
        stored = s3(account).put_object(Bucket="records", Key=key, Body=b"x", ChecksumAlgorithm="SHA256", **lock)
        return Reply(headers={"x-amz-version-id": stored["VersionId"]})

    account.environment.setattr(front, "answer", answer)


def test_an_object_that_a_service_stored_despite_the_conditions_is_named_and_removed(of_amazon: Account) -> None:
    _ignore_conditions(of_amazon)
    check_stored(of_amazon, "put", "not safe")
    listed = s3(of_amazon).list_object_versions(Bucket="records")
    assert "Versions" not in listed
    assert "DeleteMarkers" not in listed


def test_a_stored_object_that_is_locked_is_named(of_amazon: Account) -> None:
    until = datetime.now(UTC) + timedelta(days=1)
    _ignore_conditions(of_amazon, ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until)
    check_stored(of_amazon, "put", "Remove custody-test-")
    (version,) = s3(of_amazon).list_object_versions(Bucket="records")["Versions"]
    assert version["Key"] == of_amazon.stored[0]
