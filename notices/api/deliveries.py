from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent_about
from accounts.roles import Permission
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from custody.schemas import CONFLICT, GONE
from notices import selectors, services
from notices.api.parameters import NOTICE_ID, notice_of
from notices.models import Delivery
from notices.schemas import DeliveryIn, DeliveryList, DeliveryOut, ReasonIn

_DELIVERY_ID = OpenApiParameter("delivery_id", {"type": "string"}, OpenApiParameter.PATH)


class Deliveries(Resource):
    @operation(
        "list_notice_deliveries",
        "List the deliveries of a notice, oldest first.",
        permission=Permission.READ_DECISIONS,
        parameters=[NOTICE_ID],
        answers={200: DeliveryList},
        errors=[404, GONE],
    )
    def list(self, request: Request, notice_id: str) -> HttpResponse:
        rows = notice_of(request, notice_id).deliveries.order_by("pk")
        return answer(DeliveryList(items=list(rows)))

    @operation(
        "deliver_notice",
        "Mail the letter of an approved notice, or record another delivery.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID],
        body=DeliveryIn,
        answers={201: DeliveryOut},
        errors=[404, CONFLICT],
    )
    @idempotent_about(notice_of)
    def create(self, request: Request, notice_id: str) -> HttpResponse:
        notice = notice_of(request, notice_id)
        body = self.body(DeliveryIn)
        channel, options = Delivery.Channel(body.channel), body.model_dump(exclude={"channel"})
        delivery = services.deliver(caller=caller_of(request), notice=notice, channel=channel, **options)
        return answer(DeliveryOut.of(delivery), status=201)

    @operation(
        "return_notice_delivery",
        "Record that a delivered letter came back.",
        permission=Permission.DRAFT_NOTICES,
        parameters=[NOTICE_ID, _DELIVERY_ID],
        body=ReasonIn,
        answers={200: DeliveryOut},
        errors=[404, CONFLICT],
    )
    def record_return(self, request: Request, notice_id: str, delivery_id: int) -> HttpResponse:
        delivery = selectors.delivery(notice_of(request, notice_id), delivery_id)
        reason = self.body(ReasonIn).reason
        delivery = services.record_return(caller=caller_of(request), delivery=delivery, reason=reason)
        return answer(DeliveryOut.of(delivery))
