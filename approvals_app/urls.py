"""Addresses of the approval pages."""

from django.urls import path

from approvals_app.views.card import approval_ask_again, approval_page, approval_take_back
from approvals_app.views.desk import desk, desk_live
from approvals_app.views.live import approval_live
from approvals_app.views.review import approval_review

urlpatterns = [
    path("", desk, name="approvals"),
    path("live/", desk_live, name="approvals-live"),
    path("<uuid:approval>/", approval_page, name="approval"),
    path("<uuid:approval>/live/", approval_live, name="approval-live"),
    path("<uuid:approval>/review/", approval_review, name="approval-review"),
    path("<uuid:approval>/take-back/", approval_take_back, name="approval-take-back"),
    path("<uuid:approval>/ask-again/", approval_ask_again, name="approval-ask-again"),
]
