from django.urls import path

from accounts import api

urlpatterns = [
    path("auth/api-keys", api.ApiKeyListView.as_view()),
    path("auth/api-keys/<slug:key_id>", api.ApiKeyView.as_view()),
]
