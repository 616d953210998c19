"""A vault uses only its target's credentials, notices a changed secret, and renews expiring credentials."""

import json

import pytest

from custody import vaults
from custody.clouds import vault as cloud
from custody.models import StorageTarget
from custody.vaults import VaultUnavailable
from tests.custody.cloud_storage import PROVIDERS

pytestmark = [pytest.mark.django_db, pytest.mark.once]

KEY = "0a/records/ff/ff00"


@pytest.fixture
def clock(monkeypatch):
    """Monotonic seconds that the test advances."""
    now = [1000.0]
    monkeypatch.setattr(cloud.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


@pytest.fixture(params=PROVIDERS)
def storage(request, storage_of):
    return storage_of(request.param)


def test_a_changed_secret_is_used_within_a_second_without_a_restart(
    storage, use_storage, organization, monkeypatch, clock
):
    vault = vaults.of(use_storage(organization, storage).pk)
    name = storage.config["secret_ref"].removeprefix("env:")
    with monkeypatch.context() as patch:
        patch.setenv(name, "")
        clock(2)
        with pytest.raises(VaultUnavailable, match="no usable secret"):
            vault.put_new(KEY, b"x")
        patch.setenv(name, "nonsense")
        with pytest.raises(VaultUnavailable):
            vault.put_new(KEY, b"x")
    clock(2)
    assert vault.put_new(KEY, b"x")


def test_a_client_is_created_once_for_a_secret(storage, use_storage, organization, monkeypatch, clock):
    vault = vaults.of(use_storage(organization, storage).pk)
    made = []
    sign_in = vault.sign_in
    monkeypatch.setattr(vault, "sign_in", lambda secret: made.append(1) or sign_in(secret))
    for number in range(5):
        clock(2)
        vault.put_new(f"0a/records/00/0{number}", b"x")
    assert made == []


@pytest.fixture
def role(amazon, storage_of, organization):
    """A bucket that a role may use, and its configuration."""
    storage = storage_of("aws")
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    iam = amazon.client("iam")
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn = iam.create_role(RoleName="keeper", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    allowed = json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    )
    iam.put_role_policy(RoleName="keeper", PolicyName="policy", PolicyDocument=allowed)
    storage.config["role_arn"] = arn
    return storage


def assumed(storage):
    return [request for request in storage.front.requests if b"Action=AssumeRole" in request.body]


def test_a_role_is_assumed_once_and_again_before_its_credentials_expire(role, use_storage, organization, clock):
    vault = vaults.of(use_storage(organization, role).pk)
    before = len(assumed(role))
    for _ in range(3):
        clock(60)
        vault.probe()
    assert len(assumed(role)) == before
    assert f"ExternalId={organization.pk}".encode() in assumed(role)[-1].body
    clock(3600 - 500)
    vault.probe()
    assert len(assumed(role)) == before + 1


def test_while_a_role_cannot_be_assumed_again_its_credentials_are_used_until_they_expire(
    role, use_storage, organization, clock
):
    vault = vaults.of(use_storage(organization, role).pk)
    clock(3600 - 500)
    role.faults.add(503, method="POST", times=1000)
    vault.probe()
    clock(600)
    with pytest.raises(VaultUnavailable):
        vault.probe()
    role.faults.clear()
    clock(10)
    vault.probe()


def test_the_external_id_is_always_the_organization_s(role, use_storage, organization):
    role.config["external_id"] = "another"
    with pytest.raises(VaultUnavailable, match="always your organization's id"):
        use_storage(organization, role)


def test_a_target_with_an_invalid_configuration_is_a_503(api):
    StorageTarget.objects.create(organization=api.organization, provider="aws", configuration={"bucket": "x"})
    vaults.forget()
    assert api.ingest({"decision_id": "loan-1"}).status_code == 503
