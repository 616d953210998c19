from django.urls import path

from config.api import converters  # noqa: F401 - registers `any` and `id`
from notices.api import delivery, grants, history, reviews, settings, verdicts, writing

urlpatterns = [
    path("decisions/<any:decision_id>/notices", writing.DraftView.as_view()),
    path("notices", writing.NoticeListView.as_view()),
    path("notices/<str:notice_id>", writing.NoticeView.as_view()),
    path("notices/<str:notice_id>/checklist", writing.ChecklistView.as_view()),
    path("notices/<str:notice_id>/not-applicable", writing.NotApplicableView.as_view()),
    path("notices/<str:notice_id>/recipient", writing.RecipientView.as_view()),
    path("notices/<str:notice_id>/history", history.HistoryView.as_view()),
    path("notices/<str:notice_id>/versions", writing.NewVersionView.as_view()),
    path("notices/<str:notice_id>/submit", verdicts.SubmitView.as_view()),
    path("notices/<str:notice_id>/approve", verdicts.ApproveView.as_view()),
    path("notices/<str:notice_id>/request-changes", verdicts.RequestChangesView.as_view()),
    path("notices/<str:notice_id>/withdraw", verdicts.WithdrawView.as_view()),
    path("notices/<str:notice_id>/letter", delivery.LetterView.as_view()),
    path("notices/<str:notice_id>/deliveries", delivery.DeliveryListView.as_view()),
    path("notices/<str:notice_id>/deliveries/<id:delivery_id>/return", delivery.ReturnView.as_view()),
    path("authority-grants", grants.GrantListView.as_view()),
    path("authority-grants/<id:grant_id>", grants.GrantView.as_view()),
    path("review-requests", reviews.ReviewRequestListView.as_view()),
    path("review-requests/<id:review_request_id>", reviews.ReviewRequestView.as_view()),
    path("review-requests/<id:review_request_id>/close", reviews.CloseRequestView.as_view()),
    path("notice-settings", settings.SettingsView.as_view()),
    path("packs", settings.PackListView.as_view()),
]
