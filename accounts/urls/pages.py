from django.urls import path
from django.views.generic import RedirectView

from accounts import views
from accounts.back_office.components import components

urlpatterns = [
    # Before the admin's own, which ask for a password.
    path("admin/login/", RedirectView.as_view(pattern_name="sign-in", query_string=True)),
    path("admin/logout/", views.sign_out),
    path("admin/password_change/", RedirectView.as_view(pattern_name="my-sessions")),
    path("components/", components, name="components"),
    path("sign-in/", views.ask_for_code, name="sign-in"),
    path("sign-in/code/", views.enter_code, name="enter-code"),
    path("sign-in/app/", views.enter_app_code, name="second-factor"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("invites/<str:token>/", views.accept_invite, name="accept-invite"),
    path("account/first-steps/<str:flag>/", views.first_step, name="first-step"),
    path("account/organization/", views.pick_organization, name="pick-organization"),
    path("account/sessions/", views.my_sessions, name="my-sessions"),
    path("account/sessions/<int:pk>/end/", views.end_session, name="end-session"),
]
