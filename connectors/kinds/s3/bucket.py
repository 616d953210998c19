"""The objects of a bucket."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from config.clouds import aws
from connectors.kinds.base import Source, SourceFault
from connectors.kinds.faults import busy, connections
from connectors.kinds.named_items import Page, Stored
from connectors.kinds.object_storage import Objects

_NOT_SIGNED_IN = {
    "AccountProblem",
    "AuthFailure",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSecurity",
    "InvalidToken",
    "MissingAuthenticationToken",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_ELSEWHERE = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301", "307"}
_GONE = {"NoSuchKey", "NoSuchVersion", "PreconditionFailed", "404", "412"}


class Bucket(Objects):
    errors = (ClientError, BotoCoreError, aws.RoleIsOpen)

    def __init__(self, source: Source[Any]) -> None:
        super().__init__(source)
        self._bucket, self._prefix = source.config.bucket, source.config.prefix
        self._assuming = False

    @cached_property
    def _client(self) -> Any:
        config, net = self.source.config, connections(self.source)
        region = config.region or "us-east-1"
        credentials = _credentials(self.source)
        if config.role_arn:
            self._assuming = True
            credentials = aws.assume_role(
                net,
                config.role_arn,
                external_id=str(self.source.organization_id),
                region=region,
                credentials=credentials,
            )
            self._assuming = False
        if credentials is None:
            with self.source.step("secret", ""):
                raise SourceFault("This connector needs a secret or a role.", fix="Set secret_ref, or role_arn.")
        return aws.s3(net, credentials, region=region, endpoint=config.endpoint)

    def listing(self, start: str) -> Iterator[Page]:
        """Yield pages, continued by name because the tokens of the service expire."""
        while True:
            answer = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, StartAfter=start)
            things = [_stored(entry) for entry in answer.get("Contents", ())]
            yield Page(start, things)
            if not answer.get("IsTruncated") or not things:
                return
            start = things[-1].name

    def part(self, thing: Stored, begin: int, end: int) -> bytes | None:
        try:
            answer = self._client.get_object(
                Bucket=self._bucket, Key=thing.name, IfMatch=thing.version, Range=f"bytes={begin}-{end - 1}"
            )
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE:
                return None
            raise
        part: bytes = answer["Body"].read()
        return part

    def refusal(self, error: Exception) -> tuple[str, SourceFault]:
        if isinstance(error, aws.RoleIsOpen):
            return "signed in", _role_fault(self.source, error.sentence)
        if isinstance(error, NoCredentialsError):
            return "signed in", SourceFault(
                "This service has no identity at Amazon that could assume the role.",
                fix="Set secret_ref, or ask the operator of this service to give it one.",
            )
        if not isinstance(error, ClientError):
            return "listed", SourceFault(
                "The storage gives no valid answer.", fix="Check endpoint and region.", because=type(error).__name__
            )
        code, status = str(error.response["Error"].get("Code", "")), _status(error)
        if code in _NOT_SIGNED_IN:
            return "signed in", SourceFault(
                "The storage does not accept the credentials.",
                fix="Check the secret that secret_ref names.",
                because=code,
            )
        if self._assuming and status == 403:
            return "signed in", _role_fault(self.source, "The role cannot be assumed.")
        return "listed", _fault(code, status, error)


def _role_fault(source: Source[Any], sentence: str) -> SourceFault:
    return SourceFault(
        sentence,
        fix="Let the role trust this service's identity, on the condition that sts:ExternalId "
        f"is {source.organization_id}.",
    )


def _fault(code: str, status: int, error: ClientError) -> SourceFault:
    if code == "NoSuchBucket":
        return SourceFault("There is no bucket of this name.", fix="Check bucket and endpoint.")
    if status == 403:
        return SourceFault(
            "The credentials do not allow this.",
            fix="Allow s3:ListBucket on the bucket and s3:GetObject on its objects.",
            because=code,
        )
    if code in _ELSEWHERE or 300 <= status < 400:
        return SourceFault("The bucket is in another region.", fix="Set region to that of the bucket.", because=code)
    if status in (429, 503) or status >= 500 or code in ("SlowDown", "Throttling"):
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return busy(f"The storage has an internal error (HTTP {status}).", headers.get("retry-after"))
    return SourceFault(
        f"The storage refuses the request (HTTP {status}).", fix="Check bucket, region and endpoint.", because=code
    )


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _credentials(source: Source[Any]) -> aws.Credentials | None:
    """Return the credentials, or None without a secret. Raises SourceFault: the secret is malformed."""
    secret = source.secret()
    if not secret:
        return None
    name, colon, key = secret.strip().partition(":")
    if not (name and colon and key and secret.isascii()):
        with source.step("signed in", ""):
            raise SourceFault("The secret is not an access key.", fix="Write it as ACCESS_KEY_ID:SECRET_ACCESS_KEY.")
    return aws.Credentials(name, key)


def _stored(entry: dict[str, Any]) -> Stored:
    return Stored(entry["Key"], entry["ETag"], entry["LastModified"].timestamp(), entry["Size"])
