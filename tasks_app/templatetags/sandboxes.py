"""Template tags about a tool's sandbox."""

from collections.abc import Sequence

from django import template

from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.models import Task
from tasks_app.sandbox.levels import Level
from tasks_app.sandbox.shown import SandboxShown, outside_shown, sandbox_shown
from tasks_app.status import EXTERNAL_VERSION

register = template.Library()


@register.simple_tag
def sandbox_of(
    contract: Contract | None, workers: Sequence[tuple[str, Level]] | str = (), call_of: Task | str = ""
) -> SandboxShown:
    """Return what is shown of a contract's sandbox.

    ``workers``: what they say, where a page knows it. ``call_of``: the task whose call a page is about. ``contract``
    may be None for a call that an agent outside executes: nothing in it would matter.
    """
    if contract is None or (isinstance(call_of, Task) and call_of.agent_version == EXTERNAL_VERSION):
        return outside_shown()
    return sandbox_shown(contract, () if isinstance(workers, str) else workers)


@register.simple_tag
def contract_of(tool: str, version: int) -> Contract | None:
    """Return the contract that carries calls of this tool and version, or None where this process has no code of it."""
    return registry.tool_find(tool, version)
