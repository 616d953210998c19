"""Pages on which operators test a cloud and then choose it for new records."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, caller, refusal
from accounts.roles import Permission
from config import secret_references
from config.errors import DomainError
from config.secret_references import ReferenceRefused
from custody import clouds, services
from custody.vaults import storage_targets

_TITLES = {"aws": "Amazon Web Services", "gcp": "Google Cloud", "azure": "Azure"}
LABELS = {
    "account": gettext_lazy("Account"),
    "account_id": gettext_lazy("Account ID"),
    "arm_endpoint": gettext_lazy("ARM endpoint"),
    "bucket": gettext_lazy("Bucket"),
    "client_id": gettext_lazy("Client ID"),
    "container": gettext_lazy("Container"),
    "endpoint": gettext_lazy("Endpoint"),
    "external_id": gettext_lazy("External ID"),
    "kms_endpoint": gettext_lazy("KMS endpoint"),
    "kms_key": gettext_lazy("Wrapping key"),
    "login_endpoint": gettext_lazy("Login endpoint"),
    "prefix": gettext_lazy("Prefix"),
    "region": gettext_lazy("Region"),
    "resource_group": gettext_lazy("Resource group"),
    "role_arn": gettext_lazy("Role ARN"),
    "secret_ref": gettext_lazy("Secret reference"),
    "signing_key": gettext_lazy("Signing key"),
    "sts_endpoint": gettext_lazy("STS endpoint"),
    "subscription_id": gettext_lazy("Subscription ID"),
    "tenant_id": gettext_lazy("Tenant ID"),
}
"""Names of the settings of all providers."""
_MAX_LENGTH = 1024


class CloudForm(forms.Form):
    """A field for each setting of a provider. The first check of the test shows what is wrong with them."""

    def __init__(self, provider: str, data: Any = None, initial: dict[str, str] | None = None) -> None:
        super().__init__(data, initial=initial)
        for name, setting in clouds.of(provider).model_fields.items():
            label = str(LABELS[name])
            field = forms.CharField(
                label=label,
                required=False,
                max_length=_MAX_LENGTH,
                help_text=(setting.description or "").replace("`", ""),
            )
            if setting.is_required():
                field.label = f"{label} *"
                field.widget.attrs["aria-required"] = "true"
            self.fields[name] = field

    @property
    def config(self) -> dict[str, str]:
        """Return the entered settings of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value}

    def forget_secrets(self) -> None:
        """Remove values that may be secrets, so that they are not shown again."""
        self.data = {name: value for name, value in self.data.items() if not _may_be_secret(name, value)}

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Return the entered settings for the checklist."""
        return [(str(field.label).removesuffix(" *"), field.value()) for field in self if field.value()]


def _may_be_secret(name: str, value: str) -> bool:
    """Whether the value may be a secret: not a reference, or an address with a password."""
    if name != "secret_ref":
        return name.endswith("endpoint") and "@" in value
    try:
        secret_references.require_allowed(value)
    except ReferenceRefused:
        return True
    return False


class CloudPages(ReadOnlyAdmin):
    """Choice of a provider, and test of a configuration: a checklist that can be printed. A second button stores new
    records there if the test succeeds."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("clouds/", wrap(self.choose_cloud), name="choose-cloud"),
            path("clouds/<slug:provider>/", wrap(self.test_cloud), name="test-cloud"),
            *super().get_urls(),
        ]

    def choose_cloud(self, request: HttpRequest) -> HttpResponse:
        return self.page(request, "custody/clouds.html", _("Test a cloud"), clouds=_TITLES.items())

    def test_cloud(self, request: HttpRequest, provider: str) -> HttpResponse:
        if provider not in clouds.PROVIDERS:
            raise Http404
        form = CloudForm(provider, request.POST if request.method == "POST" else None, _in_use(request, provider))
        outcome: dict[str, Any] = {}
        if form.is_bound:
            use = "use" in request.POST
            who = caller(request, Permission.MANAGE_STORAGE if use else Permission.TEST_CUSTODY)
            if form.is_valid():
                try:
                    if use:
                        services.choose_cloud(caller=who, provider=provider, config=form.config)
                        messages.success(request, _("New records go to this bucket. Earlier ones stay where they are."))
                        return redirect("admin:custody_storagetarget_changelist")
                    outcome["tested"] = services.run_custody_test(caller=who, provider=provider, config=form.config)
                except services.StorageRefused as refused:
                    outcome["tested"] = refused.test
                except DomainError as refused:
                    outcome["problem"] = refused.sentence
            form.forget_secrets()
        return self.page(
            request,
            "custody/cloud_test.html",
            _("Test a cloud: %(provider)s") % {"provider": _TITLES[provider]},
            status=422 if form.errors else 200,
            form=form,
            cloud=_TITLES[provider],
            reason=refusal(request, Permission.TEST_CUSTODY),
            storage_reason=refusal(request, Permission.MANAGE_STORAGE),
            tested_at=timezone.now(),
            **outcome,
        )


def _in_use(request: HttpRequest, provider: str) -> dict[str, str]:
    """Return the configuration of the organization's bucket at this provider, if it has one."""
    organization = accounts.current_organization(request)
    target = storage_targets.own(organization.pk) if organization else None
    return dict(target.configuration) if target and target.provider == provider else {}
