"""Questions about permissions on objects: S3 answers them for an object that does not exist, and from the policies."""

import base64
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from custody.clouds.aws import configuration as aws
from custody.clouds.proof import ABSENT, CallRefused, Finding, failed, passed, skipped, warned

OF_OBJECTS = frozenset(
    {"s3:PutObject", "s3:GetObject", "s3:GetObjectRetention", "s3:PutObjectRetention", "s3:DeleteObject"}
)
"""Calls that are sent for an object that does not exist."""
IMPOSSIBLE = '"00000000000000000000000000000000"'
"""An ETag that no object has. A put with this condition cannot write."""
_ABSENT_CODES = {
    "404", "NoSuchKey", "NoSuchVersion", "PreconditionFailed", "ConditionalRequestConflict",
    "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch",
}  # fmt: skip
"""Answers about an object that does not exist, from a service that would allow the call."""
_NO_LOCK = passed("The bucket has no Object Lock, so this is not needed.")


def require_without_effect(call: str, params: dict[str, Any]) -> None:
    """Raise CallRefused unless the call names an object that does not exist and can neither write nor delete."""
    if not re.search(ABSENT + r"(\?retention)?$", params["url_path"]):
        raise CallRefused(f"{call} of an object that may exist")
    if call == "s3:PutObject" and params["headers"].get("If-Match") != IMPOSSIBLE:
        raise CallRefused(f"{call} without the impossible condition")
    if call == "s3:DeleteObject" and not params["query_string"].get("versionId"):
        raise CallRefused(f"{call} without a version")


def put(cloud: Any) -> Finding:
    """Try a put that must fail: on an impossible ETag and, for a service that ignores it, with a wrong checksum."""
    wrong = base64.b64encode(bytes(32)).decode()
    return _of_absent(cloud, "put_object", "put", Body=b"x", IfMatch=IMPOSSIBLE, ChecksumSHA256=wrong)


def lock(cloud: Any) -> Finding:
    """Try to lock an object that no call of the test names otherwise: a lock cannot be removed."""
    if cloud.is_locked is False:
        return _NO_LOCK
    until = {"Mode": "GOVERNANCE", "RetainUntilDate": datetime.now(UTC) + timedelta(minutes=1)}
    return _of_absent(cloud, "put_object_retention", "locked", Key=cloud.absent_name(), Retention=until)


def get(cloud: Any) -> Finding:
    return _of_absent(cloud, "get_object", "read")


def get_version(cloud: Any) -> Finding:
    return _NO_LOCK if cloud.is_locked is False else _of_absent(cloud, "get_object", "read", VersionId="null")


def retention(cloud: Any) -> Finding:
    return _NO_LOCK if cloud.is_locked is False else _of_absent(cloud, "get_object_retention", "looked at")


def delete(cloud: Any) -> Finding:
    """Delete the version "null" of an object that does not exist, which leaves no delete marker."""
    try:
        answer = _remove(cloud, "null")
        if answer.get("DeleteMarker"):
            return _undo(cloud, answer["VersionId"])
    except ClientError as error:
        if error.response["Error"]["Code"] not in _ABSENT_CODES:
            raise
    return passed("A version could be deleted. There was none to delete.")


def _remove(cloud: Any, version: str) -> Any:
    parameters = {**cloud.configuration.bucket_parameters, "Key": cloud.absent, "VersionId": version}
    return cloud.client("s3").delete_object(**parameters)


def _undo(cloud: Any, version: str) -> Finding:
    finding: Finding = cloud.undo(cloud.absent, lambda: _remove(cloud, version))
    return finding


def _of_absent(cloud: Any, operation: str, done: str, **sent: Any) -> Finding:
    """Send a call that fails because there is no such object. A refusal for another reason is raised."""
    parameters = {**cloud.configuration.bucket_parameters, "Key": cloud.absent, **sent}
    try:
        answer = getattr(cloud.client("s3"), operation)(**parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] in _ABSENT_CODES:
            return passed(f"An object could be {done}. Nothing was.")
        raise
    if operation == "put_object":
        return _undo(cloud, answer.get("VersionId", "null"))
    return failed("The service ignored the conditions of the call.", "Check the endpoint: this is not Amazon's S3.")


def list_versions(cloud: Any) -> Finding:
    cloud.client("s3").list_object_versions(**cloud.configuration.bucket_parameters, Prefix=cloud.absent, MaxKeys=1)
    return passed("Versions of objects can be listed.")


def permissions(cloud: Any) -> Finding:
    if not cloud.arn:
        return skipped("It is not known whose credentials these are.")
    if cloud.arn.endswith(":root"):
        return warned(
            "These are credentials of the account's root user.", "Use a role or a user with fewer permissions."
        )
    of_objects = aws.STORAGE_PERMISSIONS + (() if cloud.is_locked is False else aws.LOCKED_STORAGE_PERMISSIONS)
    wanted = {
        f"{cloud.bucket_arn}/{cloud.configuration.folder}*": of_objects,
        cloud.bucket_arn: aws.BUCKET_PERMISSIONS,
    }
    missing = [action for resource, actions in wanted.items() for action in _missing(cloud, actions, resource)]
    if missing:
        cloud.lacking["permissions"] = missing
        return failed(
            f"The identity's policies do not allow {', '.join(missing)}.",
            f"Allow {', '.join(missing)} on {cloud.bucket_arn} and its objects.",
        )
    return passed("The identity's policies allow everything that is needed of the bucket.")


def _missing(cloud: Any, actions: tuple[str, ...], resource: str) -> list[str]:
    source = re.sub(r":sts:([^:]*):assumed-role/([^/]+)/.*", r":iam:\1:role/\2", cloud.arn)
    answer = cloud.client("iam").simulate_principal_policy(
        PolicySourceArn=cloud.configuration.role_arn or source, ActionNames=[*actions], ResourceArns=[resource]
    )
    return [result["EvalActionName"] for result in answer["EvaluationResults"] if result["EvalDecision"] != "allowed"]
