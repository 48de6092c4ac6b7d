"""Addresses of the approval pages."""

from django.urls import path

from approvals_app.views.card import approval_ask_again, approval_page, approval_take_back
from approvals_app.views.desk import desk, desk_live
from approvals_app.views.edit import approval_edit_page
from approvals_app.views.figures import figures, figures_file
from approvals_app.views.grants import grant_end, grant_give, grants
from approvals_app.views.live import approval_live
from approvals_app.views.review import approval_review
from approvals_app.views.rules import rules
from approvals_app.views.stops import stop_end, stops, stops_live
from approvals_app.views.together import deny_group, together

urlpatterns = [
    path("", desk, name="approvals"),
    path("live/", desk_live, name="approvals-live"),
    path("together/", together, name="approvals-together"),
    path("deny-all/", deny_group, name="approvals-deny-all"),
    path("figures/", figures, name="approvals-figures"),
    path("figures/approvals.csv", figures_file, name="approvals-figures-file"),
    path("rules/", rules, name="approvals-rules"),
    path("grants/", grants, name="approvals-grants"),
    path("grants/<uuid:grant>/revoke/", grant_end, name="approvals-grant-end"),
    path("stops/", stops, name="approvals-stops"),
    path("stops/live/", stops_live, name="approvals-stops-live"),
    path("stops/<int:stop>/lift/", stop_end, name="approvals-stop-lift"),
    path("<uuid:approval>/", approval_page, name="approval"),
    path("<uuid:approval>/live/", approval_live, name="approval-live"),
    path("<uuid:approval>/review/", approval_review, name="approval-review"),
    path("<uuid:approval>/edit/", approval_edit_page, name="approval-edit"),
    path("<uuid:approval>/grant/", grant_give, name="approval-grant"),
    path("<uuid:approval>/take-back/", approval_take_back, name="approval-take-back"),
    path("<uuid:approval>/ask-again/", approval_ask_again, name="approval-ask-again"),
]
