"""Numbers on the approval pages."""

from django import template

from core.moments import duration

register = template.Library()


@register.filter
def thousands(value: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{value:,}"


@register.filter
def amount(value: float) -> str:
    """Return a number whole, without a point where none is needed."""
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


@register.filter
def after_colon(sentence: str) -> str:
    """Return what a sentence says after its first words, which stand beside it already."""
    rest = sentence.partition(": ")[2]
    return rest[:1].upper() + rest[1:] if rest else ""


@register.filter
def percent(share: float | None) -> str:
    """Return a share as a percentage; a dash where there is none."""
    return "-" if share is None else f"{share:.0%}"


@register.filter
def seconds(value: float | None) -> str:
    """Return a length of time in words; a dash where there is none."""
    return "-" if value is None else duration(value)
