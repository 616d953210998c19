"""The objects of a bucket."""

from collections.abc import Iterator
from functools import cached_property

from google.api_core.exceptions import (
    Forbidden,
    GoogleAPICallError,
    NotFound,
    PreconditionFailed,
    RequestRangeNotSatisfiable,
    Unauthorized,
)
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud.storage import Blob
from google.cloud.storage import Bucket as CloudBucket

from config.clouds import google
from connectors.kinds.base import SourceFault
from connectors.kinds.faults import busy, connections, required_secret
from connectors.kinds.named_items import Page, Stored
from connectors.kinds.object_storage import Objects

_FIELDS = "items(name,generation,size,updated),nextPageToken"
_SECONDS = (5, 20)


class Bucket(Objects):
    errors = (GoogleAPICallError, GoogleAuthError)

    @cached_property
    def _bucket(self) -> CloudBucket:
        secret = required_secret(self.source)
        try:
            client = google.storage_client(
                connections(self.source),
                google.service_account_key(secret),
                endpoint=self.source.config.endpoint.rstrip("/"),
            )
        except ValueError:
            with self.source.step("signed in", ""):
                raise SourceFault(
                    "The secret is not the key of a service account.",
                    fix="Store the complete JSON file that Google created for the service account.",
                ) from None
        bucket: CloudBucket = client.bucket(self.source.config.bucket)
        return bucket

    def listing(self, start: str) -> Iterator[Page]:
        blobs = self._bucket.client.list_blobs(
            self._bucket,
            prefix=self.source.config.prefix,
            start_offset=start or None,
            fields=_FIELDS,
            retry=None,
            timeout=_SECONDS,
        )
        for page in blobs.pages:
            things = [_stored(blob) for blob in page if blob.name > start]
            yield Page(start, things)
            start = things[-1].name if things else start

    def part(self, thing: Stored, begin: int, end: int) -> bytes | None:
        blob = self._bucket.blob(thing.name, generation=int(thing.version))
        try:
            # Raw, because the library would expand compressed data without a bound.
            part: bytes = blob.download_as_bytes(
                start=begin, end=end - 1, raw_download=True, checksum=None, retry=None, timeout=_SECONDS
            )
        except (NotFound, PreconditionFailed, RequestRangeNotSatisfiable):
            return None
        return part

    def refusal(self, error: Exception) -> tuple[str, SourceFault]:
        because = type(error).__name__
        if isinstance(error, TransportError):
            return "signed in", busy("Google's sign-in does not answer.")
        if isinstance(error, GoogleAuthError | Unauthorized):
            return "signed in", SourceFault(
                "The storage does not accept the credentials.",
                fix="Check the secret that secret_ref names.",
                because=because,
            )
        if isinstance(error, NotFound):
            return "listed", SourceFault("There is no bucket of this name.", fix="Check bucket.", because=because)
        if isinstance(error, Forbidden):
            return "listed", SourceFault(
                "The credentials do not allow this.",
                fix="Give the service account the role Storage Object Viewer on the bucket.",
                because=because,
            )
        status = int(getattr(error, "code", 0) or 0)
        if status == 429 or status >= 500:
            headers = getattr(getattr(error, "response", None), "headers", {})
            return "listed", busy(f"The storage has an internal error (HTTP {status}).", headers.get("Retry-After"))
        return "listed", SourceFault(
            f"The storage refuses the request (HTTP {status}).", fix="Check bucket and endpoint.", because=because
        )


def _stored(blob: Blob) -> Stored:
    return Stored(blob.name, str(blob.generation), blob.updated.timestamp(), blob.size)
