"""Questions to Google Cloud."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

import requests
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport.requests import AuthorizedSession, Request

from config.clouds.google import READ_STORAGE, USE_KEYS
from custody.clouds.gcp import configuration as gcp
from custody.clouds.gcp.configuration import Configuration
from custody.clouds.proof import (
    CallRefused,
    Cloud,
    Finding,
    Question,
    busy,
    denied,
    failed,
    json_object,
    passed,
    skipped,
    warned,
)

_KEY = r"/v1/projects/[^/:?]+/locations/[^/:?]+/keyRings/[^/:?]+/cryptoKeys/[^/:?]+"
ALLOWED = [
    ("GET", r"/storage/v1/b/[^/?]+(\?projection=noAcl)?"),
    ("GET", r"/storage/v1/b/[^/?]+/iam/testPermissions\?[^/]*"),
    ("GET", _KEY),
    ("GET", _KEY + r"/cryptoKeyVersions/\d+"),
    ("POST", _KEY + ":testIamPermissions"),
    ("GET", _KEY + ":getIamPolicy"),
]
"""All requests that a test may send besides signing in. `projects.serviceAccount.get` is not among them: it can create
the storage service agent."""
_AGENT = "serviceAccount:service-{}@gs-project-accounts.iam.gserviceaccount.com"
_MAY_ENCRYPT = {"roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/owner"}
_SIGNING = {"EC_SIGN_P256_SHA256", "EC_SIGN_ED25519"}
_UNUSABLE = {
    "DISABLED": "Enable the version: gcloud kms keys versions enable.",
    "DESTROY_SCHEDULED": "Restore the version and enable it: gcloud kms keys versions restore.",
    "DESTROYED": "Name another key: this one is gone.",
}


_SETTINGS = {"bucket": "bucket", "signing_key": "signing_key", "bucket_key": "the bucket's default key"}


class _Refused(Exception):
    """Google answers with an error."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


@dataclass
class Google(Cloud):
    configuration: Configuration
    errors: ClassVar = (_Refused, GoogleAuthError)
    session: AuthorizedSession | None = None
    bucket: dict[str, Any] = field(default_factory=dict)
    _sign_in: tuple[str, str] = ("", "")
    """Host and path where the service account signs in."""

    def required(self) -> tuple[str, ...]:
        is_locked = not self.bucket or self.bucket.get("objectRetention", {}).get("mode") == "Enabled"
        is_under_key = not self.bucket or bool(_bucket_key_name(self))
        return (
            *gcp.STORAGE_PERMISSIONS,
            *(gcp.LOCKED_STORAGE_PERMISSIONS if is_locked else ()),
            *(gcp.WRAPPING_PERMISSIONS if self.configuration.kms_key else ()),
            *(gcp.SIGNING_PERMISSIONS if self.configuration.signing_key else ()),
            *(("bucket_key", "storage_agent") if is_under_key else ()),
        )

    def guard(self, method: str, host: str, target: str) -> None:
        if method == "POST" and (host, target) == self._sign_in:
            return
        # linear: the only patterns are those of ALLOWED
        if not any(method == known and re.fullmatch(pattern, target) for known, pattern in ALLOWED):
            raise CallRefused(f"{method} {target}")

    def sign_in(self) -> None:
        key = gcp.service_account_key(self.configuration, organization_id=self.organization_id)
        where = urlsplit(str(key.get("token_uri", "")))
        self._sign_in = where.hostname or "", where.path
        self.session = gcp.session(self.connections, key, scope=f"{READ_STORAGE} {USE_KEYS}")
        self.session.credentials.refresh(Request(session=self.connections.session()))

    def read(self, url: str, body: Any = None, **query: Any) -> Any:
        """Return an answer's JSON. Raises _Refused."""
        assert self.session is not None  # noqa: S101 - the question "credentials" comes first
        method = "GET" if body is None else "POST"
        answer: requests.Response = self.session.request(method, url, json=body, params=query or None)
        if answer.status_code != 200:
            raise _Refused(answer.status_code)
        return json_object(answer)

    def refusal(self, error: Exception, question: Question) -> Finding:
        if isinstance(error, TransportError):
            return busy("sign-in")
        if isinstance(error, GoogleAuthError):
            return failed(
                "The service account's key is not accepted: it is wrong, has expired or was deleted.",
                "Create a new key of the service account, and put it where secret_ref points.",
            )
        status = getattr(error, "status", 0)
        what = "key" if question.permission.startswith("cloudkms.") else "bucket"
        if status == 401:
            return failed("The token is not accepted.", "Check that the endpoint is Google's, or takes its tokens.")
        if status == 403:
            return denied(question, f"the {what}")
        if status == 404:
            setting = _SETTINGS.get(question.id, "kms_key")
            return failed(f"There is no {what} of this name.", f"Check {setting}.")
        if status == 429 or status >= 500:
            return busy(str(status))
        return failed(f"The request is refused ({status}).", f"Check the {what} and the endpoint.")


def _credentials(cloud: Google) -> Finding:
    cloud.sign_in()
    return passed(f"Signed in as {cloud.session.credentials.service_account_email}.")  # type: ignore[union-attr]


def _bucket(cloud: Google) -> Finding:
    cloud.bucket = cloud.read(gcp.storage_url(cloud.configuration), projection="noAcl")
    return passed(f"The bucket is there, in {cloud.bucket.get('location', 'a place it does not name')}.")


def _bucket_permissions(cloud: Google) -> Finding:
    url = gcp.storage_url(cloud.configuration, "/iam/testPermissions")
    is_locked = cloud.bucket.get("objectRetention", {}).get("mode") == "Enabled"
    wanted = gcp.STORAGE_PERMISSIONS + (gcp.LOCKED_STORAGE_PERMISSIONS if is_locked else ())
    given = cloud.read(url, permissions=list(wanted)).get("permissions", ())
    return _all_given(cloud, "bucket_permissions", wanted, given)


def _all_given(
    cloud: Google, question: str, wanted: Sequence[str], given: Sequence[str], on: str = "the bucket", claimed: str = ""
) -> Finding:
    missing = [name for name in wanted if name not in given]
    if missing:
        cloud.lacking[question] = missing
        return failed(f"The service account lacks {', '.join(missing)}.", f"Grant {', '.join(missing)} on {on}.")
    return passed(f"The service account has {', '.join(wanted)}.{claimed}")


def _versioning(cloud: Google) -> Finding:
    if cloud.bucket.get("versioning", {}).get("enabled"):
        return passed("Object versioning is on.")
    return warned(
        "Object versioning is off: what others overwrite in this bucket is lost.",
        "Turn it on: gcloud storage buckets update gs://BUCKET --versioning.",
    )


def _object_lock(cloud: Google) -> Finding:
    policy = cloud.bucket.get("retentionPolicy")
    if policy:
        locked = "locked" if policy.get("isLocked") else "not locked: anyone who may change the bucket can shorten it"
        return passed(
            f"The bucket retains objects for {policy.get('retentionPeriod')} seconds; the policy is {locked}. It keeps "
            "data keys too: until it ends, no record can be destroyed."
        )
    if cloud.bucket.get("objectRetention", {}).get("mode") == "Enabled":
        return passed("Objects may be retained one by one.")
    return warned(
        "There is no retention: anyone who may delete objects can delete records.",
        "Set one: gcloud storage buckets update gs://BUCKET --retention-period=…, or create the bucket with "
        "--enable-per-object-retention.",
    )


def _soft_delete(cloud: Google) -> Finding:
    seconds = int(cloud.bucket.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
    if not seconds:
        return passed("Soft delete is off: what is destroyed is gone.")
    return warned(
        f"Soft delete is on: for {seconds / 86400:g} days, destroyed records can be recovered.",
        "Turn it off: gcloud storage buckets update gs://BUCKET --clear-soft-delete.",
    )


def _encryption(cloud: Google) -> Finding:
    if cloud.bucket.get("encryption", {}).get("defaultKmsKeyName"):
        return passed("The bucket encrypts with a key of yours. Records are sealed besides.")
    return passed("The bucket encrypts with keys of Google's. Records are sealed besides.")


def _public_access(cloud: Google) -> Finding:
    settings = cloud.bucket.get("iamConfiguration", {})
    if settings.get("publicAccessPrevention") != "enforced":
        return failed(
            "Nothing in the bucket keeps it from being public.",
            "Enforce it: gcloud storage buckets update gs://BUCKET --public-access-prevention.",
        )
    if not settings.get("uniformBucketLevelAccess", {}).get("enabled"):
        return warned(
            "Public access is prevented, but objects may have access lists of their own.",
            "Turn on uniform access: gcloud storage buckets update gs://BUCKET --uniform-bucket-level-access.",
        )
    return passed("Public access is prevented.")


def _wrapping_key(cloud: Google) -> Finding:
    if not cloud.configuration.kms_key:
        return skipped("No kms_key is named.")
    answer = cloud.read(gcp.kms_url(cloud.configuration, cloud.configuration.kms_key))
    if answer.get("purpose") != "ENCRYPT_DECRYPT":
        return failed(f"The key is made for {answer.get('purpose')}.", "Name a key whose purpose is ENCRYPT_DECRYPT.")
    return _enabled(answer.get("primary", {}).get("state", "DISABLED"), "The primary version of the key")


def _enabled(state: str, what: str) -> Finding:
    if state != "ENABLED":
        return failed(f"{what} is not enabled: its state is {state}.", _UNUSABLE.get(state, "Enable it."))
    return passed(f"{what} is enabled.")


def _signing_key(cloud: Google) -> Finding:
    if not cloud.configuration.signing_key:
        return skipped("No signing_key is named.")
    answer = cloud.read(gcp.kms_url(cloud.configuration, cloud.configuration.signing_key))
    if answer.get("algorithm") not in _SIGNING:
        fix = f"Name a version of a key whose algorithm is {' or '.join(sorted(_SIGNING))}."
        return failed(f"The key cannot be used for this: it is {answer.get('algorithm')}.", fix)
    return _enabled(answer.get("state", "DISABLED"), "This version of the key")


def _key_permissions(cloud: Google, question: str, key: str, wanted: Sequence[str]) -> Finding:
    if not key:
        return skipped("No key for this is named.")
    url = gcp.kms_url(cloud.configuration, f"{key.partition('/cryptoKeyVersions/')[0]}:testIamPermissions")
    given = cloud.read(url, {"permissions": list(wanted)}).get("permissions", ())
    return _all_given(
        cloud,
        question,
        wanted,
        given,
        "the key",
        " This is claimed, not tried: Google may answer so for a key it cannot see.",
    )


def _wrap(cloud: Google) -> Finding:
    return _key_permissions(cloud, "wrap", cloud.configuration.kms_key, gcp.WRAPPING_PERMISSIONS)


def _sign(cloud: Google) -> Finding:
    return _key_permissions(cloud, "sign", cloud.configuration.signing_key, gcp.SIGNING_PERMISSIONS)


def _bucket_key_name(cloud: Google) -> str:
    """Return the name of the key that the bucket encrypts with; "" if it is Google's."""
    name: str = cloud.bucket.get("encryption", {}).get("defaultKmsKeyName", "")
    return name.partition("/cryptoKeyVersions/")[0]


def _bucket_key(cloud: Google) -> Finding:
    key = _bucket_key_name(cloud)
    if not key:
        return passed("The bucket encrypts with no key of yours, so none is needed.")
    primary = cloud.read(gcp.kms_url(cloud.configuration, key)).get("primary", {})
    return _enabled(primary.get("state", "DISABLED"), "The primary version of the bucket's key")


def _storage_agent(cloud: Google) -> Finding:
    key = _bucket_key_name(cloud)
    if not key:
        return skipped("The bucket has no customer-managed key, so the storage service agent needs none.")
    agent = _AGENT.format(cloud.bucket.get("projectNumber", ""))
    policy = cloud.read(gcp.kms_url(cloud.configuration, f"{key}:getIamPolicy"))
    given = any(
        binding.get("role") in _MAY_ENCRYPT and agent in binding.get("members", ())
        for binding in policy.get("bindings", ())
    )
    if given:
        return passed("The storage service agent may use the bucket's key.")
    return failed(
        "The storage service agent may not use the bucket's key, so nothing can be written.",
        f"Grant roles/cloudkms.cryptoKeyEncrypterDecrypter on the bucket's key to {agent.partition(':')[2]}.",
    )


CLOUD = Google
QUESTIONS = [
    Question("credentials", "token", "", _credentials, needs=""),
    Question("bucket", "buckets.get", "storage.buckets.get", _bucket),
    Question(
        "bucket_permissions",
        "buckets.testIamPermissions",
        "",
        _bucket_permissions,
        needs="bucket",
        covers=gcp.STORAGE_PERMISSIONS + gcp.LOCKED_STORAGE_PERMISSIONS,
        is_claim=True,
    ),
    Question("versioning", "", "storage.buckets.get", _versioning, needs="bucket"),
    Question("object_lock", "", "storage.buckets.get", _object_lock, needs="bucket"),
    Question("soft_delete", "", "storage.buckets.get", _soft_delete, needs="bucket"),
    Question("encryption", "", "storage.buckets.get", _encryption, needs="bucket"),
    Question("public_access", "", "storage.buckets.get", _public_access, needs="bucket"),
    Question("wrapping_key", "cryptoKeys.get", "cloudkms.cryptoKeys.get", _wrapping_key),
    Question("wrap", "cryptoKeys.testIamPermissions", "", _wrap, covers=gcp.WRAPPING_PERMISSIONS, is_claim=True),
    Question("signing_key", "cryptoKeyVersions.get", "cloudkms.cryptoKeyVersions.get", _signing_key),
    Question("sign", "cryptoKeys.testIamPermissions", "", _sign, covers=gcp.SIGNING_PERMISSIONS, is_claim=True),
    Question(
        "bucket_key",
        "cryptoKeys.get",
        "cloudkms.cryptoKeys.get",
        _bucket_key,
        needs="bucket",
        if_denied="skipped",
    ),
    Question(
        "storage_agent",
        "cryptoKeys.getIamPolicy",
        "cloudkms.cryptoKeys.getIamPolicy",
        _storage_agent,
        needs="bucket",
        if_denied="skipped",
    ),
]
