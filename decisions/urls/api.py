from django.urls import path

from config.api import converters  # noqa: F401 - registers `any`
from decisions.api import reading, reconsiderations

# A decision id may contain slashes, so `any` takes it whole and the longer routes come first.
urlpatterns = [
    path("decisions", reading.DecisionListView.as_view()),
    path("decisions/<any:decision_id>/reconsideration", reconsiderations.ReconsiderationView.as_view()),
    path("decisions/<any:decision_id>/reconsideration/check", reconsiderations.ReconsiderationCheckView.as_view()),
    path("decisions/<any:decision_id>/record", reading.RecordView.as_view()),
    path("decisions/<any:decision_id>/receipt", reading.ReceiptView.as_view()),
    path("decisions/<any:decision_id>", reading.DecisionView.as_view()),
]
