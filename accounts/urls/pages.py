from django.urls import path

from accounts import views

urlpatterns = [
    path("sign-in/", views.ask_for_code, name="sign-in"),
    path("sign-in/code/", views.enter_code, name="enter-code"),
    path("sign-in/app/", views.enter_app_code, name="second-factor"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("invites/<str:token>/", views.accept_invite, name="accept-invite"),
    path("account/sessions/", views.my_sessions, name="my-sessions"),
    path("account/sessions/<int:pk>/end/", views.end_session, name="end-session"),
]
