import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent_while
from accounts.roles import Permission
from config.http import openapi
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.schemas import GONE
from decisions.api.common import decision_of
from decisions.selectors import decision as decision_named
from retention import presenters, rules, selectors, services
from retention.models import Hold, Policy
from retention.preview import preview
from retention.schemas import (
    DecisionRetention,
    DisposalList,
    HoldIn,
    HoldList,
    HoldOut,
    HoldQuery,
    LiftIn,
    ListPage,
    RetentionIn,
    RetentionOut,
    RetentionSet,
)


def _not_lifted(organization_id: uuid.UUID, made: Mapping[str, Any]) -> QuerySet[Hold]:
    return Hold.objects.for_organization(organization_id).filter(number=made["number"], lifted_at=None)


class Retention(Resource):
    @operation(
        "get_retention",
        "For how long records are kept: the policy with its history, the laws that lengthen it, and holds.",
        permission=Permission.READ_DECISIONS,
        answers={200: RetentionOut},
    )
    def retrieve(self, request: Request) -> HttpResponse:
        return answer(presenters.retention(caller_of(request).organization_id))

    @operation(
        "set_retention",
        "Set the retention period. Disposes of nothing now, and says what it would free.",
        is_contract=True,
        permission=Permission.MANAGE_RETENTION,
        body=RetentionIn,
        answers={200: RetentionSet},
    )
    def update(self, request: Request) -> HttpResponse:
        body, caller = self.body(RetentionIn), caller_of(request)
        former = rules.newest(caller.organization_id)
        figures = preview(caller.organization_id, Policy(days=body.days), instead_of=former)
        if not body.dry_run:
            services.set_policy(caller=caller, days=body.days, note=body.note, share_percent=body.share_percent)
        shown = presenters.retention(caller.organization_id)
        return answer(RetentionSet.of(shown, preview=figures, saved=not body.dry_run))

    @operation(
        "list_disposals",
        "List the records that were disposed of, newest first.",
        permission=Permission.READ_DECISIONS,
        query=ListPage,
        answers={200: DisposalList},
    )
    def disposals(self, request: Request) -> HttpResponse:
        rows = selectors.disposals(caller_of(request).organization_id)
        return answer(paginate(rows, self.query(ListPage), moment="disposed_at", show=DisposalList))


class Holds(Resource):
    @operation(
        "list_holds",
        "List legal holds, newest first.",
        permission=Permission.READ_AUDIT,
        query=HoldQuery,
        answers={200: HoldList},
    )
    def list(self, request: Request) -> HttpResponse:
        query = self.query(HoldQuery)
        rows = Hold.objects.for_organization(caller_of(request).organization_id)
        if query.state:
            rows = rows.filter(lifted_at__isnull=query.state == "in_force")
        return answer(paginate(rows, query, moment="placed_at", show=HoldList))

    @operation(
        "place_hold",
        "Hold a decision, or all that match a filter: nothing of them is disposed of until the hold is lifted.",
        permission=Permission.MANAGE_HOLDS,
        body=HoldIn,
        answers={201: HoldOut},
        errors=[404, 409, GONE],
    )
    @idempotent_while(_not_lifted)
    def create(self, request: Request) -> HttpResponse:
        body, caller = self.body(HoldIn), caller_of(request)
        hold = services.place_hold(
            caller=caller,
            matter=body.matter,
            reason=body.reason,
            decision=decision_named(caller.organization_id, body.decision_id) if body.decision_id else None,
            filter=body.filter.as_json() if body.filter else None,
        )
        return answer(HoldOut.of(hold), status=201)

    @operation(
        "lift_hold",
        "Lift a hold, with the reason.",
        permission=Permission.MANAGE_HOLDS,
        body=LiftIn,
        answers={200: HoldOut},
        errors=[404, 409],
    )
    def lift(self, request: Request, number: int) -> HttpResponse:
        body, caller = self.body(LiftIn), caller_of(request)
        hold = selectors.hold(caller.organization_id, number)
        return answer(HoldOut.of(services.lift_hold(caller=caller, hold=hold, because=body.reason)))


class DecisionsRetention(Resource):
    @operation(
        "get_decision_retention",
        "From when a decision may be disposed of, and what keeps it.",
        permission=Permission.READ_DECISIONS,
        parameters=[openapi.DECISION_ID],
        answers={200: DecisionRetention},
        errors=[404, GONE],
    )
    def retrieve(self, request: Request, decision_id: str) -> HttpResponse:
        return answer(presenters.decision_retention(decision_of(request, decision_id)))
