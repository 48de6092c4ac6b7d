"""Is the tool still the one that was asked about? (case-11, variant 2; rule 5)"""

from datetime import timedelta

from django.conf import settings

from approvals_app.digests import schema_digest
from approvals_app.models import ApprovalRequest
from core.clock import ClockTimestamp
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.models import Worker


def contract_change(request: ApprovalRequest, contract: Contract) -> str | None:
    """Say how a contract differs from the one that was asked about, or None."""
    version = request.contract_version
    if contract.name != request.tool or not contract.carries(version):
        return f"tool changed: {request.tool} is now at version {contract.version}, not {version}"
    if contract.version == version and schema_digest(contract.arguments) != request.schema_digest:
        return f"tool changed: the arguments of {request.tool} have another schema now"
    return None


def tool_change(request: ApprovalRequest) -> str | None:
    """Say how the tool changed since it was asked about, as far as this process can know, or None.

    A process that does not carry the tool at all says nothing: T1 has the last word. While a live worker still
    carries the version, it is not gone.
    """
    newest = registry.tool_newest(request.tool)
    if newest is None:
        return None
    contract = registry.tool_find(request.tool, request.contract_version)
    if contract is None and _worker_carries(request.tool, request.contract_version):
        return None
    return contract_change(request, contract or newest)


def _worker_carries(tool: str, version: int) -> bool:
    fresh = ClockTimestamp() - timedelta(seconds=settings.LEASE_SECONDS)
    carried = Worker.objects.filter(seen_at__gt=fresh).values_list("carries", flat=True)
    return any(version in row.get("tools", {}).get(tool, []) for row in carried)
