from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api.resources import Resource, operation
from config.api.responses import answer
from config.api.times import rfc3339
from custody import services
from custody.models import Key
from custody.schemas import CustodyIn, CustodyTestOut, PublicKeys


class SigningKeys(Resource):
    @operation(
        "list_signing_keys",
        "The public halves of the keys that sign this organization's records.",
        permission=Permission.READ_DECISIONS,
        answers={200: PublicKeys},
    )
    def list(self, request: Request) -> HttpResponse:
        keys = Key.objects.for_organization(caller_of(request).organization_id).filter(purpose=Key.Purpose.SIGNING)
        return answer(
            {
                "items": [
                    {
                        "key_id": key.key_id,
                        "algorithm": key.algorithm,
                        "public_key_pem": key.public_pem,
                        "created_at": rfc3339(key.created_at),
                        "retired_at": rfc3339(key.retired_at),
                    }
                    for key in keys.order_by("pk")
                ]
            }
        )


class CustodyTests(Resource):
    @operation(
        "test_custody",
        "Prove the customer's key and storage against their real account. Changes nothing.",
        tag="custody",
        permission=Permission.TEST_CUSTODY,
        body=CustodyIn,
        answers={200: CustodyTestOut},
        errors=[429],
    )
    def test(self, request: Request) -> HttpResponse:
        body = self.body(CustodyIn)
        tested = services.run_custody_test(caller=caller_of(request), provider=body.provider, config=body.config)
        return answer(tested.as_json())
