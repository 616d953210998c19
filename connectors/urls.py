from django.urls import path

from connectors.api.completeness import CompletenessChecks
from connectors.api.connectors import Connectors, ConnectorTests
from connectors.api.quarantine import Quarantine

urlpatterns = [
    path("connectors", Connectors.as_view({"get": "list", "post": "create"})),
    path("connectors/test", ConnectorTests.as_view({"post": "test"})),
    path("connectors/preview", ConnectorTests.as_view({"post": "preview"})),
    path(
        "connectors/<str:source_id>",
        Connectors.as_view({"get": "retrieve", "patch": "update", "delete": "destroy"}),
    ),
    path("connectors/<str:source_id>/poll", Connectors.as_view({"post": "poll"})),
    path("connectors/<str:source_id>/runs", Connectors.as_view({"get": "runs"})),
    path("connectors/<str:source_id>/quarantine", Quarantine.as_view({"get": "list"})),
    path("connectors/<str:source_id>/quarantine/retry", Quarantine.as_view({"post": "retry"})),
    path("connectors/<str:source_id>/quarantine/dismiss", Quarantine.as_view({"post": "dismiss"})),
    path("completeness", CompletenessChecks.as_view({"post": "check"})),
]
