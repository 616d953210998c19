"""The blobs of a container."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobProperties, ContainerClient

from config.clouds import azure
from connectors.kinds.base import SourceFault
from connectors.kinds.faults import busy, connections, required_secret
from connectors.kinds.named_items import Page, Stored
from connectors.kinds.object_storage import Objects


class Container(Objects):
    can_start_after_a_name = False  # only Azure's markers continue a listing
    errors = (AzureError, ValueError)

    @cached_property
    def _client(self) -> ContainerClient:
        config = self.source.config
        return azure.container_client(
            connections(self.source),
            account=config.account,
            container=config.container,
            secret=required_secret(self.source),
            endpoint=config.endpoint,
        )

    def listing(self, start: str) -> Iterator[Page]:
        blobs = self._client.list_blobs(name_starts_with=self.source.config.prefix or None)
        pages: Any = blobs.by_page(start or None)
        try:
            first = next(pages, ())
        except HttpResponseError as error:
            if error.status_code != 400 or not start:
                raise
            start, pages = "", blobs.by_page()  # the marker of an earlier poll has expired
            first = next(pages, ())
        yield Page(start, [_stored(blob) for blob in first])
        start = pages.continuation_token or ""
        for page in pages:
            yield Page(start, [_stored(blob) for blob in page])
            start = pages.continuation_token or ""

    def part(self, thing: Stored, begin: int, end: int) -> bytes | None:
        try:
            return (
                self._client.get_blob_client(thing.name)
                .download_blob(
                    offset=begin,
                    length=end - begin,
                    etag=thing.version,
                    match_condition=MatchConditions.IfNotModified,
                    max_concurrency=1,
                )
                .readall()
            )
        except (ResourceNotFoundError, ResourceModifiedError):
            return None

    def refusal(self, error: Exception) -> tuple[str, SourceFault]:
        if not isinstance(error, HttpResponseError):
            return "listed", SourceFault(
                "The storage gives no valid answer.",
                fix="Check account, endpoint and the secret that secret_ref names.",
                because=type(error).__name__,
            )
        code, status = str(getattr(error, "error_code", "") or ""), error.status_code or 0
        if code in ("AuthorizationPermissionMismatch", "AuthorizationFailure", "AuthorizationResourceTypeMismatch"):
            return "listed", SourceFault(
                "The credentials do not allow this.",
                fix="Create a signature with the permissions to read and list.",
                because=code,
            )
        if status in (401, 403) or not status:
            return "signed in", SourceFault(
                "The storage does not accept the credentials.",
                fix="Check account, and the secret that secret_ref names: a key, or a signature that has not expired.",
                because=code,
            )
        if status == 404:
            return "listed", SourceFault("There is no container of this name.", fix="Check container.", because=code)
        if status == 429 or status >= 500:
            headers: Any = getattr(error.response, "headers", {})
            return "listed", busy(f"The storage has an internal error (HTTP {status}).", headers.get("Retry-After"))
        return "listed", SourceFault(
            f"The storage refuses the request (HTTP {status}).",
            fix="Check account, container and endpoint.",
            because=code,
        )


def _stored(blob: BlobProperties) -> Stored:
    return Stored(blob.name, blob.etag, blob.last_modified.timestamp(), blob.size)
