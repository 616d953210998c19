from django.urls import path

from config.http import converters  # noqa: F401 - registers `any` and `id`
from notices.api.deliveries import Deliveries
from notices.api.grants import AuthorityGrants
from notices.api.history import NoticeHistory
from notices.api.letters import Letters
from notices.api.notices import Notices
from notices.api.previews import NoticePreviews
from notices.api.review_requests import ReviewRequests
from notices.api.reviews import Reviews
from notices.api.settings import NoticeSettings, Packs

urlpatterns = [
    path("decisions/<any:decision_id>/notices", Notices.as_view({"post": "draft"})),
    path("notices", Notices.as_view({"get": "list"})),
    path("notices/preview", NoticePreviews.as_view({"post": "create"})),
    path("notices/<str:notice_id>", Notices.as_view({"get": "retrieve", "patch": "edit"})),
    path("notices/<str:notice_id>/checklist", Notices.as_view({"get": "checklist"})),
    path("notices/<str:notice_id>/not-applicable", Notices.as_view({"put": "set_exemptions"})),
    path("notices/<str:notice_id>/recipient", Notices.as_view({"put": "set_recipient"})),
    path("notices/<str:notice_id>/history", NoticeHistory.as_view({"get": "list"})),
    path("notices/<str:notice_id>/versions", Notices.as_view({"post": "make_version"})),
    path("notices/<str:notice_id>/submit", Reviews.as_view({"post": "submit"})),
    path("notices/<str:notice_id>/approve", Reviews.as_view({"post": "approve"})),
    path("notices/<str:notice_id>/request-changes", Reviews.as_view({"post": "request_changes"})),
    path("notices/<str:notice_id>/withdraw", Reviews.as_view({"post": "withdraw"})),
    path("notices/<str:notice_id>/letter", Letters.as_view({"get": "retrieve"})),
    path("notices/<str:notice_id>/deliveries", Deliveries.as_view({"get": "list", "post": "create"})),
    path("notices/<str:notice_id>/deliveries/<id:delivery_id>/return", Deliveries.as_view({"post": "record_return"})),
    path("authority-grants", AuthorityGrants.as_view({"get": "list", "post": "create"})),
    path("authority-grants/<id:grant_id>", AuthorityGrants.as_view({"delete": "revoke"})),
    path("review-requests", ReviewRequests.as_view({"get": "list"})),
    path("review-requests/<id:review_request_id>", ReviewRequests.as_view({"get": "retrieve"})),
    path("review-requests/<id:review_request_id>/close", ReviewRequests.as_view({"post": "close"})),
    path("notice-settings", NoticeSettings.as_view({"get": "retrieve", "put": "update"})),
    path("packs", Packs.as_view({"get": "list"})),
]
