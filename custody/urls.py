from django.urls import path

from custody import api

urlpatterns = [
    path("custody/keys", api.SigningKeys.as_view({"get": "list"})),
    path("custody/test", api.CustodyTests.as_view({"post": "test"})),
]
