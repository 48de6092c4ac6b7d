"""Addresses that stay where somebody is: in the workspace that they look at, on the page that they see."""

from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from core.principal import Principal


def place_url(principal: Principal, name: str, **query: str) -> str:
    """Return the address of a page with this query; for a person of several workspaces it names this one."""
    text = urlencode(query | principal.kept)
    return reverse(name) + (f"?{text}" if text else "")


def way_back(request: HttpRequest, page: str = "") -> str:
    """Return an address that can be asked for and leads to what this answer shows. ``page``: where that stands.

    What a form was sent to may take nothing else. Where no page is known, it leads to where the form stood.
    """
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    came = request.headers.get("Referer", "")
    if page or not url_has_allowed_host_and_scheme(came, allowed_hosts={request.get_host()}):
        return page or "/"
    parts = urlsplit(came)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
