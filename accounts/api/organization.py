"""The caller's organization, and the onboarding flags."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts import selectors, services
from accounts.authentication import caller_of
from accounts.models import Organization
from accounts.roles import Permission
from accounts.schemas import OnboardingIn, OnboardingOut, OrganizationPatch, OrganizationSettings
from config.http.json_responses import answer
from config.http.resources import Resource, operation


class CurrentOrganization(Resource):
    @operation(
        "get_organization",
        "The caller's organization.",
        permission=None,
        answers={200: OrganizationSettings},
    )
    def show(self, request: Request) -> HttpResponse:
        return answer(_settings(request))

    @operation(
        "update_organization",
        "Ask owners, admins and approvers for a second factor, or stop asking.",
        permission=Permission.MANAGE_ORGANIZATION,
        body=OrganizationPatch,
        answers={200: OrganizationSettings},
    )
    def update(self, request: Request) -> HttpResponse:
        required = self.body(OrganizationPatch).second_factor_required
        services.require_second_factor(caller=caller_of(request), required=required)
        return answer(_settings(request))


class Onboarding(Resource):
    @operation(
        "get_onboarding",
        "The onboarding flags of the caller, or of the member behind a key.",
        permission=None,
        answers={200: OnboardingOut},
    )
    def show(self, request: Request) -> HttpResponse:
        return answer(OnboardingOut.of(selectors.first_steps_of(caller_of(request))))

    @operation(
        "update_onboarding",
        "Update onboarding flags.",
        is_contract=True,
        permission=None,
        body=OnboardingIn,
        answers={200: OnboardingOut},
    )
    def update(self, request: Request) -> HttpResponse:
        flags = self.body(OnboardingIn).model_dump(exclude_unset=True)
        return answer(OnboardingOut.of(services.update_onboarding(caller=caller_of(request), flags=flags)))


def _settings(request: Request) -> OrganizationSettings:
    organization = Organization.objects.get(pk=caller_of(request).organization_id).settled()
    return OrganizationSettings.of(organization, loosenings=organization.waiting())
