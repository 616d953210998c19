from django.urls import path

from notices.public import views

urlpatterns = [
    path("n/<str:address>", views.letter, name="letter"),
    path("n/<str:address>/request", views.standing, name="letter-request"),
]
