from django.urls import path

from decisions import api

# A decision id may contain slashes, so `path` takes it whole and the longer routes come first.
urlpatterns = [
    path("ingest/srf", api.IngestView.as_view()),
    path("ingest/srf/batch", api.IngestBatchView.as_view()),
    path("decisions", api.DecisionListView.as_view()),
    path("decisions/<path:decision_id>/record", api.RecordView.as_view()),
    path("decisions/<path:decision_id>/receipt", api.ReceiptView.as_view()),
    path("decisions/<path:decision_id>", api.DecisionView.as_view()),
]
