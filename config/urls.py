from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from config import health

to_sign_in = RedirectView.as_view(pattern_name="sign-in", query_string=True)
sign_out = RedirectView.as_view(pattern_name="my-sessions")  # where the button to sign out is

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("", include("accounts.urls.pages")),
    path("admin/login/", to_sign_in),
    path("admin/logout/", sign_out),
    path("admin/", admin.site.urls),
    path("v1/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("v1/", include("accounts.urls.api")),
    path("v1/", include("custody.urls")),
    path("v1/", include("decisions.urls")),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
]
