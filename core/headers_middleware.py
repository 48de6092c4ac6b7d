"""Headers that Django has no setting for: what our pages never need, and who may keep a copy of them."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture", "browsing-topics")
POLICY = ", ".join(f"{name}=()" for name in UNUSED)


class HeadersMiddleware(MiddlewareMixin):
    """Adds to every answer; an answer that says something itself keeps it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add what is missing."""
        response.headers.setdefault("Permissions-Policy", POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "private, no-cache")  # a proxy between must keep nothing
        return response
