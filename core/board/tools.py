"""Tools as this code and the living workers carry them: what each promises, what it showed, how its calls went."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from core.board.effects import NONE, UNKNOWN
from core.clock import database_now
from core.models import Workspace
from core.pages import proofs_of
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.models import Call
from tasks_app.sandbox.levels import NAMESPACES, Level
from tasks_app.status import CallState
from tasks_app.workers import workers_alive

COUNTED = timedelta(days=7)
LAST_CALLS = 20
_COUNTS = {
    "calls": Count("pk"),
    "failures": Count("pk", filter=Q(state__in=NONE)),
    "open": Count("pk", filter=Q(state__in=[state for state in UNKNOWN if state != CallState.IN_DOUBT])),
    "doubts": Count("pk", filter=Q(state=CallState.IN_DOUBT)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One version of one tool. ``contract``: None where only workers elsewhere carry it. ``proof``: its last trial.

    ``counts``: of the last seven days, over all versions.
    """

    name: str
    version: int
    contract: Contract | None
    proof: Any
    counts: Mapping[str, int]
    workers: int

    @property
    def is_contradicted(self) -> bool:
        """Whether a trial showed that it does not keep what it declares."""
        return self.proof is not None and not self.proof.is_true


def tools(*, workspace: Workspace) -> list[Tool]:
    """Return the newest version of every tool: those whose trial contradicts them first, then those in doubt."""
    carried = _carried()
    contracts = {contract.name: contract for contract in registry.tools()}  # by version: the newest comes last
    names = sorted({*contracts, *carried})
    counts = _counts(workspace, database_now() - COUNTED)
    proofs = proofs_of(tools=names)
    made = [_tool(name, contracts.get(name), carried.get(name, {}), counts, proofs) for name in names]
    return sorted(made, key=lambda one: (not one.is_contradicted, -one.counts.get("doubts", 0), one.name))


def sandbox_levels(*, name: str) -> list[tuple[str, Level]]:
    """Return what each living worker that carries a tool says of its sandboxes, the weakest first."""
    rows = workers_alive().filter(draining=False, carries__tools__has_key=name).values_list("name", "carries")
    told = [(worker, carries["sandbox"]) for worker, carries in rows if "sandbox" in carries]
    found = [(worker, Level(said["name"], tuple(said["missing"]))) for worker, said in told]
    return sorted(found, key=lambda one: (one[1].name == NAMESPACES, not one[1].missing, one[0]))


def tool_names() -> list[str]:
    """Return the name of every tool that this code or a living worker carries."""
    return sorted({*(contract.name for contract in registry.tools()), *_carried()})


def versions_of(name: str) -> list[Contract]:
    """Return the versions of a tool that this code carries, the newest first."""
    return [contract for contract in reversed(registry.tools()) if contract.name == name]


def last_calls(*, workspace: Workspace, name: str) -> list[Call]:
    """Return the newest calls of a tool."""
    return list(Call.objects.filter(workspace=workspace, tool=name).select_related("task").order_by("-pk")[:LAST_CALLS])


def schema_text(contract: Contract) -> str:
    """Return the schema of a tool's arguments as text."""
    return json.dumps(contract.arguments.model_json_schema(), indent=2, ensure_ascii=False, sort_keys=True)


def version_difference(newer: Contract, older: Contract) -> list[tuple[str, str]]:
    """Return what changed between two versions, line by line: ("added", "removed" or "", the line)."""
    lines = difflib.unified_diff(_described(older), _described(newer), n=2, lineterm="")
    marks = {"+": "added", "-": "removed"}
    return [(marks.get(line[:1], ""), line) for line in list(lines)[2:]]


def _described(contract: Contract) -> list[str]:
    said = {name: getattr(contract, name) for name in _SAID}
    said["cost"] = contract.cost_said
    return [f"{name}: {value}" for name, value in said.items()] + schema_text(contract).splitlines()


_SAID = (
    *("effect_class", "timeout", "lag", "retention", "attempts", "risk", "asks", "decide_within", "run_within"),
    *("once_per", "resource", "at_once", "precondition", "sandbox", "sandbox_reason"),
    *("network", "environment", "credentials"),
)


def _carried() -> dict[str, dict[int, int]]:
    """Return how many living workers carry each version of each tool."""
    found: dict[str, dict[int, int]] = {}
    for carries in workers_alive().filter(draining=False).values_list("carries", flat=True):
        for name, versions in carries.get("tools", {}).items():
            for version in versions:
                by_version = found.setdefault(name, {})
                by_version[version] = by_version.get(version, 0) + 1
    return found


def _counts(workspace: Workspace, since: datetime) -> dict[str, dict[str, int]]:
    calls = Call.objects.filter(workspace=workspace, first_attempt_at__gte=since)
    rows: Any = calls.values("tool").annotate(**_COUNTS)
    return {row["tool"]: row for row in rows}


def _tool(
    name: str,
    contract: Contract | None,
    carried: Mapping[int, int],
    counts: Mapping[str, Mapping[str, int]],
    proofs: Mapping[tuple[str, int], Any],
) -> Tool:
    version = contract.version if contract else max(carried, default=0)
    return Tool(
        name=name,
        version=version,
        contract=contract,
        proof=proofs.get((name, version)),
        counts=counts.get(name, {}),
        workers=carried.get(version, 0),
    )
