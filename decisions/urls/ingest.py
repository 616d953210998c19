from django.urls import path

from decisions.api import ingest

urlpatterns = [
    path("srf", ingest.IngestView.as_view()),
    path("srf/batch", ingest.IngestBatchView.as_view()),
]
