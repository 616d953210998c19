from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts import services
from accounts.authentication import caller_of
from accounts.callers import Caller
from accounts.models import Member
from accounts.schemas import OnboardingIn, OnboardingOut
from config.api import openapi
from config.api.answers import answer
from config.api.errors import ApiError
from config.api.views import ApiView


class OnboardingView(ApiView):
    permissions = {"GET": None, "PATCH": None}

    @extend_schema(
        operation_id="get_onboarding",
        summary="The signed-in member's onboarding flags.",
        tags=["extension"],
        responses=openapi.answers({200: OnboardingOut}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        member_id = _member_id(caller_of(request))
        return answer(_shown(Member.objects.get(pk=member_id)))

    @extend_schema(
        operation_id="update_onboarding",
        summary="Update onboarding flags.",
        tags=["auth"],
        request=OnboardingIn,
        responses=openapi.answers({200: OnboardingOut}, errors=[401, 403, 413, 415]),
    )
    def patch(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        member_id = _member_id(caller)
        flags = self.body(OnboardingIn).model_dump(exclude_unset=True)
        return answer(_shown(services.update_onboarding(member_id=member_id, flags=flags, actor=caller.actor)))


def _member_id(caller: Caller) -> int:
    if caller.member_id is None:
        raise ApiError(403, "Onboarding belongs to a signed-in person; an API key has none.")
    return caller.member_id


def _shown(member: Member) -> dict[str, bool]:
    return {
        "dismissed": member.onboarding_dismissed,
        "opened": member.onboarding_opened,
        "verified": member.onboarding_verified,
    }
