"""Addresses of the approval pages."""

from django.urls import path

from approvals_app import views

urlpatterns = [
    path("", views.approval_list, name="approvals"),
    path("<uuid:approval>/", views.approval_page, name="approval"),
    path("<uuid:approval>/take-back/", views.approval_take_back, name="approval-take-back"),
    path("<uuid:approval>/ask-again/", views.approval_ask_again, name="approval-ask-again"),
]
