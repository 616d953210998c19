from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts import selectors, services
from accounts.authentication import caller_of
from accounts.models import Member, Organization
from accounts.schemas import OnboardingIn, OnboardingOut
from config.api import openapi
from config.api.responses import answer
from config.api.views import ApiView


class OnboardingView(ApiView):
    permissions = {"GET": None, "PATCH": None}

    @extend_schema(
        operation_id="get_onboarding",
        summary="The onboarding flags of the caller, or of the member behind a key.",
        tags=["extension"],
        responses=openapi.answers({200: OnboardingOut}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer(_shown(selectors.first_steps_of(caller_of(request))))

    @extend_schema(
        operation_id="update_onboarding",
        summary="Update onboarding flags.",
        tags=["auth"],
        request=OnboardingIn,
        responses=openapi.answers({200: OnboardingOut}, errors=[401, 403, 413, 415]),
    )
    def patch(self, request: Request) -> HttpResponse:
        flags = self.body(OnboardingIn).model_dump(exclude_unset=True)
        caller = caller_of(request)
        whose = selectors.first_steps_of(caller)
        services.update_onboarding(of=whose, flags=flags, actor=caller.actor)
        return answer(_shown(whose))


def _shown(whose: Member | Organization) -> dict[str, bool]:
    return {
        "dismissed": whose.onboarding_dismissed,
        "opened": whose.onboarding_opened,
        "verified": whose.onboarding_verified,
    }
