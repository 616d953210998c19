from django.urls import path

from decisions.api.ingest import Ingest

urlpatterns = [
    path("srf", Ingest.as_view({"post": "one"})),
    path("srf/batch", Ingest.as_view({"post": "batch"})),
]
