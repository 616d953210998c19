from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from config import health

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("admin/", admin.site.urls),
    path("v1/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("v1/", include("accounts.urls")),
    path("v1/", include("custody.urls")),
    path("v1/", include("decisions.urls")),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
]
