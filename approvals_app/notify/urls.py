"""Addresses of the pages of alerts and deliveries."""

from django.urls import path

from approvals_app.notify.views.alerts import alerts

urlpatterns = [
    path("", alerts, name="alerts"),
]
