"""Addresses that stay in the workspace that somebody looks at."""

from urllib.parse import urlencode

from django.urls import reverse

from core.principal import Principal


def place_url(principal: Principal, name: str, **query: str) -> str:
    """Return the address of a page with this query; for a person of several workspaces it names this one."""
    text = urlencode(query | principal.kept)
    return reverse(name) + (f"?{text}" if text else "")
