from typing import NoReturn

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config import health
from config.http.document import OpenApiView

handler500 = "config.error_pages.failed"


def _not_found(request: HttpRequest, **_: str) -> NoReturn:
    raise Http404


urlpatterns = [
    # Patterns are tried in order: the most frequent first. A decision's id may contain anything, so paths below a
    # decision precede the path of the decision itself.
    path("v1/ingest/", include("decisions.urls.ingest")),
    path("v1/", include("notices.urls")),
    path("v1/", include("connectors.urls")),
    path("v1/", include("retention.urls")),
    path("v1/", include("decisions.urls.api")),
    path("v1/", include("custody.urls")),
    path("v1/", include("accounts.urls.api")),
    path("v1/openapi.json", OpenApiView.as_view(), name="openapi"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("", include("accounts.urls.pages")),
    path("", include("notices.public.urls")),
    path("", include("custody.views")),
    path("admin/r/<path:rest>", _not_found),  # the admin would redirect to the page of any object of any model
    path("admin/", admin.site.urls),
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("favicon.ico", RedirectView.as_view(url=static("drs/icon.svg"))),
]
