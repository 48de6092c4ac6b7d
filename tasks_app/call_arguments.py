"""The arguments of a call for readers: in the order of its tool's schema, which the database does not keep."""

from collections.abc import Mapping
from typing import Any

from core.arguments import in_order
from tasks_app.registry import tool_find, tool_newest


def arguments_shown(*, tool: str, version: int, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same arguments as the tool's schema orders them; of a version that is gone, as the newest does.

    A tool that this process does not carry leaves them as they are stored.
    """
    contract = tool_find(tool, version) or tool_newest(tool)
    return in_order(arguments, contract.arguments.model_fields if contract else ())
