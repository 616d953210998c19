from django.urls import path

from config.api import converters  # noqa: F401 - registers `any`
from notices import api

urlpatterns = [
    path("decisions/<any:decision_id>/notices", api.DraftView.as_view()),
    path("notices", api.NoticeListView.as_view()),
    path("notices/<str:notice_id>", api.NoticeView.as_view()),
    path("notices/<str:notice_id>/approve", api.ApproveView.as_view()),
    path("notices/<str:notice_id>/withdraw", api.WithdrawView.as_view()),
    path("notice-settings", api.SettingsView.as_view()),
    path("packs", api.PackListView.as_view()),
]
