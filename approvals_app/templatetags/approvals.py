"""Numbers on the approval pages."""

from django import template

register = template.Library()


@register.filter
def thousands(value: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{value:,}"


@register.filter
def after_colon(sentence: str) -> str:
    """Return what a sentence says after its first words, which stand beside it already."""
    rest = sentence.partition(": ")[2]
    return rest[:1].upper() + rest[1:] if rest else ""
