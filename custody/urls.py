from django.urls import path

from custody import api

urlpatterns = [path("custody/keys", api.SigningKeys.as_view({"get": "list"}))]
