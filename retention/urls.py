from django.urls import path

from config.http import converters  # noqa: F401 - registers `any` and `id`
from retention import api

urlpatterns = [
    path("retention", api.Retention.as_view({"get": "retrieve", "put": "update"})),
    path("retention/disposals", api.Retention.as_view({"get": "disposals"})),
    path("retention/holds", api.Holds.as_view({"get": "list", "post": "create"})),
    path("retention/holds/<id:number>/lift", api.Holds.as_view({"post": "lift"})),
    path("decisions/<any:decision_id>/retention", api.DecisionsRetention.as_view({"get": "retrieve"})),
]
