"""The addresses of the web process, with those of a provider, which the settings decide at start."""

from django.urls import include, path

from core import urls
from core.urls import handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
urlpatterns = [
    path("sign-in/with/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("sign-in/with/", include("allauth.socialaccount.urls")),
    *urls.urlpatterns,
]
