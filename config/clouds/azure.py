"""Azure Blob Storage."""

from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.pipeline.transport import RequestsTransport
from azure.storage.blob import ContainerClient

from config.vetted_http import Connections

_API_VERSION = "2021-12-02"  # emulators and Azure Stack lag behind what the library would ask for


def container_client(
    connections: Connections, *, account: str, container: str, secret: str, endpoint: str = ""
) -> ContainerClient:
    """A client of one container.

    Args:
        secret: a key of the account, or a shared access signature.
    """
    is_signature = "&" in secret  # which joins its parameters; a key is base64
    credential = AzureSasCredential(secret) if is_signature else AzureNamedKeyCredential(account, secret)
    return ContainerClient(
        endpoint or f"https://{account}.blob.core.windows.net",
        container,
        credential=credential,
        transport=RequestsTransport(session=connections.session(), session_owner=False),
        api_version=_API_VERSION,
        retry_total=0,
        permit_redirects=False,
        max_single_get_size=16 * 2**20,
    )
