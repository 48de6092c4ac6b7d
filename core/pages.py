"""What every page's frame needs."""

from typing import Any

from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor of the page frame."""
    return {}
