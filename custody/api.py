import uuid
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from config.http.timestamps import rfc3339
from custody import selectors, services
from custody.models import StorageTarget
from custody.schemas import ChosenStorage, CustodyIn, CustodyTestOut, PublicKeys, StorageIn, StorageOut


class SigningKeys(Resource):
    @operation(
        "list_signing_keys",
        "The public halves of the keys that sign this organization's records.",
        permission=Permission.READ_DECISIONS,
        answers={200: PublicKeys},
    )
    def list(self, request: Request) -> HttpResponse:
        return answer({"items": selectors.public_keys(caller_of(request).organization_id)})


class CustodyTests(Resource):
    @operation(
        "test_custody",
        "Test a bucket and keys of the customer in their own account. Changes nothing.",
        is_contract=True,
        permission=Permission.TEST_CUSTODY,
        body=CustodyIn,
        answers={200: CustodyTestOut},
        errors=[429],
    )
    def test(self, request: Request) -> HttpResponse:
        body = self.body(CustodyIn)
        tested = services.run_custody_test(caller=caller_of(request), provider=body.provider, config=body.config)
        return answer(tested.as_json())


class Storage(Resource):
    @operation(
        "get_storage",
        "Where new records of this organization go, and where earlier ones went.",
        permission=Permission.READ_DECISIONS,
        answers={200: StorageOut},
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return answer(_storage(caller_of(request).organization_id))

    @operation(
        "set_storage",
        "Let new records go to the organization's own bucket, and be made with the keys that are named, once the "
        "custody test has proven them; or let them go to the deployment's storage again.",
        permission=Permission.MANAGE_STORAGE,
        body=StorageIn,
        answers={200: ChosenStorage},
        errors=[429],
    )
    def update(self, request: Request) -> HttpResponse:
        body, caller = self.body(StorageIn), caller_of(request)
        if body.provider == services.DEPLOYMENT:
            services.choose_deployments(caller=caller)
            return answer({**_storage(caller.organization_id), "checks": []})
        chosen = services.choose_cloud(caller=caller, provider=body.provider, config=body.config)
        checks = [check.as_json() for check in chosen.test.checks]
        return answer({**_storage(caller.organization_id), "checks": checks})


def _storage(organization_id: uuid.UUID) -> dict[str, Any]:
    storage = selectors.storage_of(organization_id)
    return {
        **_target(storage.current),
        "failing_since": rfc3339(storage.outage.began_at if storage.outage else None),
        "earlier": [{**_target(target), "retired_at": rfc3339(target.retired_at)} for target in storage.earlier],
    }


def _target(target: StorageTarget) -> dict[str, Any]:
    """Return a target as the API shows it. The deployment's configuration is its operator's and is left out."""
    if target.organization_id is None:
        return {"target_id": target.pk, "provider": services.DEPLOYMENT, "config": {}}
    return {"target_id": target.pk, "provider": target.provider, "config": target.configuration}
