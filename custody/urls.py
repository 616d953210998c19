from django.urls import path

from custody import api

urlpatterns = [path("custody/keys", api.PublicKeysView.as_view())]
