"""What pages outside of the drills say of them: the last runs, open alerts, which tools were tried."""

from collections.abc import Collection
from dataclasses import dataclass

from chaos_app.models import DrillRun, ToolProof
from chaos_app.selectors.runs import alerts_open, runs_latest
from core.models import Workspace

RUNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillsTold:
    """The newest runs, and the sentences of the alerts that nobody has seen."""

    runs: list[DrillRun]
    alerts: list[str]


def drills_told(*, workspace: Workspace) -> DrillsTold:
    """Return them for a workspace."""
    alerts = [alert.sentence for alert in alerts_open(workspace=workspace)]
    return DrillsTold(runs=runs_latest(workspace=workspace, most=RUNS), alerts=alerts)


def proofs_of(*, tools: Collection[str]) -> dict[tuple[str, int], ToolProof]:
    """Return the newest trial of each version of these tools."""
    return {(proof.tool, proof.version): proof for proof in ToolProof.objects.filter(tool__in=tools)}
