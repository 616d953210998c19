from django.urls import path, register_converter
from django.urls.converters import PathConverter

from decisions import api


class AnyText(PathConverter):
    """Like `path`, and with line breaks: a decision id may contain every character but NUL."""

    regex = "(?s:.+)"


register_converter(AnyText, "any")

# A decision id may contain slashes, so `any` takes it whole and the longer routes come first.
urlpatterns = [
    path("ingest/srf", api.IngestView.as_view()),
    path("ingest/srf/batch", api.IngestBatchView.as_view()),
    path("decisions", api.DecisionListView.as_view()),
    path("decisions/<any:decision_id>/record", api.RecordView.as_view()),
    path("decisions/<any:decision_id>/receipt", api.ReceiptView.as_view()),
    path("decisions/<any:decision_id>", api.DecisionView.as_view()),
]
