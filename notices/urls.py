from django.urls import path

from config.api import converters  # noqa: F401 - registers `any` and `id`
from notices.api import delivery, grants, history, review, review_requests, revisions, settings

urlpatterns = [
    path("decisions/<any:decision_id>/notices", revisions.DraftView.as_view()),
    path("notices", revisions.NoticeListView.as_view()),
    path("notices/<str:notice_id>", revisions.NoticeView.as_view()),
    path("notices/<str:notice_id>/checklist", revisions.ChecklistView.as_view()),
    path("notices/<str:notice_id>/not-applicable", revisions.NotApplicableView.as_view()),
    path("notices/<str:notice_id>/recipient", revisions.RecipientView.as_view()),
    path("notices/<str:notice_id>/history", history.HistoryView.as_view()),
    path("notices/<str:notice_id>/versions", revisions.NewVersionView.as_view()),
    path("notices/<str:notice_id>/submit", review.SubmitView.as_view()),
    path("notices/<str:notice_id>/approve", review.ApproveView.as_view()),
    path("notices/<str:notice_id>/request-changes", review.RequestChangesView.as_view()),
    path("notices/<str:notice_id>/withdraw", review.WithdrawView.as_view()),
    path("notices/<str:notice_id>/letter", delivery.LetterView.as_view()),
    path("notices/<str:notice_id>/deliveries", delivery.DeliveryListView.as_view()),
    path("notices/<str:notice_id>/deliveries/<id:delivery_id>/return", delivery.ReturnView.as_view()),
    path("authority-grants", grants.GrantListView.as_view()),
    path("authority-grants/<id:grant_id>", grants.GrantView.as_view()),
    path("review-requests", review_requests.ReviewRequestListView.as_view()),
    path("review-requests/<id:review_request_id>", review_requests.ReviewRequestView.as_view()),
    path("review-requests/<id:review_request_id>/close", review_requests.CloseRequestView.as_view()),
    path("notice-settings", settings.SettingsView.as_view()),
    path("packs", settings.PackListView.as_view()),
]
