from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from accounts.models import Organization
from custody import vaults
from custody.clouds import vault as cloud
from custody.models import Installation, StorageTarget
from custody.vaults import storage_targets
from tests.custody.cloud_storage import CloudStorage, amazon_bucket, azure_container, google_bucket
from tests.custody.clouds.accounts import Account, amazon_account, google_account, microsoft_account
from tests.custody.removing import keep, lock  # noqa: F401 - fixtures
from tests.support.aws_server import AwsServer, aws_server
from tests.support.azure_cloud import AzureCloud, azure_cloud
from tests.support.azurite import azurite
from tests.support.certificates import Authority
from tests.support.gcs_server import GcsServer, gcs_server


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def trusted(authority: Authority, settings: object) -> Authority:
    """Trust the tests' authority, and allow this machine."""
    settings.TRUSTED_CA_FILE = str(authority.file)  # type: ignore[attr-defined]
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]  # type: ignore[attr-defined]
    return authority


@pytest.fixture(scope="session")
def _amazon() -> Iterator[AwsServer]:
    with aws_server() as server:
        yield server


@pytest.fixture(scope="session")
def _google(authority: Authority) -> Iterator[GcsServer]:
    with gcs_server(authority.server_context("localhost")) as server:
        yield server


@pytest.fixture(scope="session")
def _microsoft(authority: Authority) -> Iterator[AzureCloud]:
    with ExitStack() as stack:
        blobs = stack.enter_context(azurite(authority))
        yield stack.enter_context(azure_cloud(authority.server_context("localhost"), blobs))


@pytest.fixture
def amazon(_amazon: AwsServer) -> AwsServer:
    """Return an AWS without resources."""
    _amazon.reset()
    return _amazon


@pytest.fixture
def google(_google: GcsServer) -> GcsServer:
    """Return a Google Cloud without buckets and keys."""
    _google.reset()
    return _google


@pytest.fixture
def microsoft(_microsoft: AzureCloud) -> AzureCloud:
    """Return an Azure without containers and keys."""
    _microsoft.reset()
    return _microsoft


@pytest.fixture
def storage_of(
    request: pytest.FixtureRequest, trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., CloudStorage]:
    """Return a function that creates an empty bucket at a provider. Faults are retried at once; a marker stays cached.
    Tests that remove the marker, and those of single requests, use `marker_asked_for` too."""
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 3600.0)
    monkeypatch.setattr(cloud, "FAILING_SECONDS", 0.0)
    makers: dict[str, tuple[str, Any]] = {
        "aws": ("amazon", amazon_bucket),
        "gcp": ("google", google_bucket),
        "azure": ("microsoft", azure_container),
    }

    def make(provider: str, **settings: Any) -> CloudStorage:
        server, bucket = makers[provider]
        made: CloudStorage = bucket(request.getfixturevalue(server), monkeypatch.setenv, **settings)
        return made

    return make


@pytest.fixture
def marker_asked_for(storage_of: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for the marker before each use of a bucket."""
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 0.0)


@pytest.fixture
def use_storage(db: None) -> Callable[[Organization, CloudStorage], StorageTarget]:
    """Return a function that makes a bucket, with its marker, the target of an organization."""

    def use(organization: Organization, storage: CloudStorage) -> StorageTarget:
        target = storage_targets.use_own(organization.pk, storage.provider, storage.config)
        storage_targets.forget()
        vault: Any = vaults.of(target.pk)
        vault.mark(Installation.objects.get_or_create(only=True)[0].uid)
        return target

    return use


@pytest.fixture
def of_amazon(amazon: AwsServer, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return a customer's account with Amazon."""
    return amazon_account(amazon, monkeypatch)


@pytest.fixture
def of_google(google: GcsServer, monkeypatch: pytest.MonkeyPatch) -> Account:
    return google_account(google, monkeypatch)


@pytest.fixture
def of_microsoft(microsoft: AzureCloud, monkeypatch: pytest.MonkeyPatch) -> Account:
    return microsoft_account(microsoft, monkeypatch)


@pytest.fixture(params=["of_amazon", "of_google", "of_microsoft"])
def account(request: pytest.FixtureRequest) -> Account:
    """Run a test once with each provider."""
    return request.getfixturevalue(request.param)
