"""Template tags about a tool's sandbox."""

from collections.abc import Sequence

from django import template

from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.sandbox.levels import Level
from tasks_app.sandbox.shown import SandboxShown, sandbox_shown

register = template.Library()


@register.simple_tag
def sandbox_of(contract: Contract, workers: Sequence[tuple[str, Level]] | str = ()) -> SandboxShown:
    """Return what is shown of a contract's sandbox; ``workers``: what they say, where a page knows it."""
    return sandbox_shown(contract, () if isinstance(workers, str) else workers)


@register.simple_tag
def contract_of(tool: str, version: int) -> Contract | None:
    """Return the contract that carries calls of this tool and version, or None where this process has no code of it."""
    return registry.tool_find(tool, version)
