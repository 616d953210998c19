from django.urls import path

from config.http import converters  # noqa: F401 - registers `any`
from decisions.api.decisions import Decisions
from decisions.api.reconsiderations import Reconsiderations
from decisions.mapping.api import Mappings

# A decision id may contain slashes, so `any` takes it whole and the longer routes come first.
urlpatterns = [
    path("decisions", Decisions.as_view({"get": "list"})),
    path("decisions/<any:decision_id>/reconsideration", Reconsiderations.as_view({"post": "create"})),
    path("decisions/<any:decision_id>/reconsideration/check", Reconsiderations.as_view({"post": "check"})),
    path("decisions/<any:decision_id>/record", Decisions.as_view({"get": "record"})),
    path("decisions/<any:decision_id>/receipt", Decisions.as_view({"get": "receipt"})),
    path("decisions/<any:decision_id>", Decisions.as_view({"get": "retrieve"})),
    path("mappings", Mappings.as_view({"get": "list", "post": "create"})),
    path("mappings/propose", Mappings.as_view({"post": "suggest"})),
    path("mappings/import", Mappings.as_view({"post": "import_document"})),
    path("mappings/ready", Mappings.as_view({"get": "list_ready"})),
    path("mappings/ready/<str:ready>", Mappings.as_view({"post": "create_ready"})),
    path("mappings/read", Mappings.as_view({"post": "read"})),
    path("mappings/<id:mapping_id>", Mappings.as_view({"get": "retrieve"})),
    path("mappings/<id:mapping_id>/versions", Mappings.as_view({"post": "propose"})),
    path("mappings/<id:mapping_id>/unknown-fields", Mappings.as_view({"get": "unknown"})),
    path("mappings/<id:mapping_id>/versions/<id:number>/export", Mappings.as_view({"get": "export"})),
    path("mappings/<id:mapping_id>/confirm", Mappings.as_view({"post": "confirm"})),
]
