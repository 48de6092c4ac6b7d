"""The lists of the administrators' console: each cell named, so that a row can be read where it has no columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

register = template.Library()
_CHECKBOX = "action-checkbox-column"


@register.simple_tag
def named_cells(cells: Iterable[str], headers: Sequence[Mapping[str, Any]]) -> SafeString:
    """Return the cells of a row, each with its role and the name of its column; a checkbox needs no name."""
    names = ["" if _CHECKBOX in str(one.get("class_attrib", "")) else str(one["text"]) for one in headers]
    named = SafeString()
    for at, cell in enumerate(cells):
        named += _named(cell, names[at] if at < len(names) else "")
    return named


def _named(cell: str, name: str) -> SafeString:
    """Write into the begin tag of a cell, which is ``<td`` or ``<th``: Django's list makes nothing else."""
    role = "rowheader" if cell.startswith("<th") else "cell"
    label = format_html(' data-label="{}"', capfirst(name)) if name else ""
    return SafeString(f'{cell[:3]} role="{role}"{label}{cell[3:]}')
