"""Links and forms of a page that stay in its workspace, for a person of several."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def kept(context: Mapping[str, Any], joint: str) -> str:
    """Return what an address needs to stay here, after ``?`` or ``&``; nothing for who has this workspace alone."""
    named = _named(context)
    return f"{joint}{urlencode(named)}" if named else ""


@register.simple_tag(takes_context=True)
def kept_fields(context: Mapping[str, Any]) -> SafeString:
    """Return the same as a hidden field of a form."""
    fields = ((name, value) for name, value in _named(context).items())
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', fields)


def _named(context: Mapping[str, Any]) -> dict[str, str]:
    principal = context.get("principal")
    return principal.kept if principal else {}
