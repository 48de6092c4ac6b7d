"""Addresses of the pages of alerts and deliveries."""

from django.urls import path

from approvals_app.notify.views.alerts import alerts, alerts_live
from approvals_app.notify.views.deliveries import deliveries_page, delivery_again

urlpatterns = [
    path("", alerts, name="alerts"),
    path("live/", alerts_live, name="alerts-live"),
    path("deliveries/", deliveries_page, name="deliveries"),
    path("deliveries/<uuid:delivery>/again/", delivery_again, name="delivery-again"),
]
