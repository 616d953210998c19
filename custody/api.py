from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.api.resources import Resource, operation
from config.api.responses import answer
from config.api.times import rfc3339
from custody.models import Key
from custody.schemas import PublicKeys


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
