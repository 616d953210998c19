"""Choice of the storage for new records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from django.db import transaction

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import Invalid
from custody import clouds, vaults
from custody.clouds.proving import Check
from custody.clouds.vault import CloudVault
from custody.models import Installation, StorageTarget
from custody.services import searching
from custody.services.custody_test import CustodyTest, run_custody_test
from custody.services.keys import prove_keys, take_up_keys
from custody.vaults import VaultOfAnother, VaultUnavailable, storage_targets

DEPLOYMENT = "deployment"
"""Used like a provider's name, for this service's own storage."""
_NOT_OF_STORAGE = {"kms_key", "signing_key", "kms_endpoint"}
_MARKING = {
    "aws": ("PutObject", "s3:PutObject"),
    "gcp": ("objects.insert", "storage.objects.create"),
    "azure": ("Put Blob", "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write"),
}
_UNMARKED = (
    "If the detail says that access is denied, allow the service to put and to read objects below the prefix, also in "
    "the bucket's policy and with the key that the bucket encrypts with. Otherwise try again later."
)


class StorageRefused(Invalid):
    """A check of the custody test failed, or the marker could not be put. Nothing was changed.

    Attributes:
        test: the custody test with all its checks.
    """

    code = "storage_refused"

    def __init__(self, test: CustodyTest) -> None:
        self.test = test
        super().__init__(
            [
                {
                    "type": "custody_check_failed",
                    "loc": ["body", "config"],
                    "msg": f"{check.id}: {check.detail} {check.fix}".strip(),
                    "ctx": check.as_json(),
                }
                for check in test.checks
                if check.status == "fail"
            ]
            or [
                {
                    "type": "custody_not_proven",
                    "loc": ["body", "config"],
                    "msg": f"Not proven: {', '.join(test.not_proven)}. See the checks that were skipped.",
                    "ctx": {"not_proven": test.not_proven},
                }
            ]
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """The storage that was chosen for new records of an organization, and the custody test before the choice."""

    target: StorageTarget
    test: CustodyTest


@requires(Permission.MANAGE_STORAGE)
def choose_cloud(*, caller: Caller, provider: str, config: Mapping[str, str]) -> Choice:
    """Use the organization's own bucket and named keys for new records, once the custody test has proven them and the
    bucket has the marker. Earlier records stay where they are, under their keys. Running processes follow within a
    second.

    Args:
        provider: one of `custody.clouds.PROVIDERS`.
        config: the configuration of the custody test; unknown names are ignored.

    Raises:
        StorageRefused, KeyNotProven: nothing was changed.
        TestsBusy: two tests run in this process, or one of this organization.
    """
    test = run_custody_test(caller=caller, provider=provider, config=config)
    if not test.ok:
        raise StorageRefused(test)
    known = {name: value for name, value in config.items() if name in clouds.of(provider).model_fields and value}
    made = prove_keys(caller=caller, provider=provider, config=known)
    place = {name: value for name, value in known.items() if name not in _NOT_OF_STORAGE}
    place_of = StorageTarget(organization_id=caller.organization_id, provider=provider, configuration=place)
    choice = _next_choice(place_of)
    test = _mark(place_of, choice, test)
    with transaction.atomic():
        storage_targets.lock()
        before = storage_targets.own(caller.organization_id)
        target = storage_targets.use_own(caller.organization_id, provider, place, choice=choice)
        _record(caller, before, target)
        take_up_keys(caller=caller, made=made)
    storage_targets.forget()
    return Choice(target, test)


@requires(Permission.MANAGE_STORAGE)
def choose_deployments(*, caller: Caller) -> StorageTarget:
    """Use the service's own storage for new records of the caller's organization again."""
    with transaction.atomic():
        storage_targets.lock()
        before = storage_targets.own(caller.organization_id)
        storage_targets.retire_own(caller.organization_id)
        _record(caller, before, None)
    storage_targets.forget()
    return storage_targets.current(caller.organization_id)


def choose_target(*, provider: str) -> StorageTarget:
    """Use this provider's storage for new records of all organizations without their own target. Earlier records stay
    where they are."""
    with transaction.atomic():
        storage_targets.lock()
        target = storage_targets.use(provider)
    storage_targets.forget()
    return target


def _next_choice(target: StorageTarget) -> int:
    """Return the number of the next choice of a place, or the present one while the place is in use."""
    known = storage_targets.known_own(target.organization_id, target.provider, target.configuration)  # type: ignore[arg-type]
    if known is None:
        return 1
    return known.choices_made + 1 if known.retired_at or not known.choices_made else known.choices_made


def _mark(target: StorageTarget, choice: int, test: CustodyTest) -> CustodyTest:
    """Put the marker, and an object that shows this choice to a database restored from an earlier backup. Returns the
    test with this as its last check. Raises StorageRefused."""
    call, permission = _MARKING[target.provider]
    installation, _ = Installation.objects.get_or_create(only=True)
    try:
        vault = cast(CloudVault, vaults.made_from(target))
        vault.mark(installation.uid)
        vault.put_new(searching.choice_key(target.organization_id, choice), b"chosen\n", lockable=False)
    except VaultUnavailable as error:
        fix = "Choose another bucket or another prefix." if isinstance(error, VaultOfAnother) else _UNMARKED
        check = Check("marker", "fail", call, permission, f"The marker cannot be put: {error}.", fix, 0)
        raise StorageRefused(replace(test, checks=[*test.checks, check])) from error
    check = Check("marker", "pass", call, permission, "The marker is there, and cannot be replaced.", "", 0)
    return replace(test, checks=[*test.checks, check])


def _record(caller: Caller, before: StorageTarget | None, after: StorageTarget | None) -> None:
    if before != after:
        audit.record(
            "storage.chosen",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="storage_target",
            object_id=after.pk if after else DEPLOYMENT,
            provider=after.provider if after else DEPLOYMENT,
            before=before.pk if before else DEPLOYMENT,
        )
