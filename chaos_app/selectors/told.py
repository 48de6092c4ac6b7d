"""What pages outside of the drills say of them: last runs, open alerts, tools that were tried, effect classes."""

from collections.abc import Collection
from dataclasses import dataclass

from chaos_app.models import RUNNING, DrillCase, DrillRun, ToolProof
from chaos_app.selectors.runs import alerts_open, cases_counted, runs_latest
from chaos_app.services.guided import SUITE as GUIDED
from core.models import Workspace

RUNS = 5
CELLS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillsTold:
    """The newest runs, the newest that is over, and the sentences of the alerts that nobody has seen."""

    runs: list[DrillRun]
    alerts: list[str]
    last: DrillRun | None = None

    @property
    def trouble(self) -> str:
        """Say what is wrong with the last verdict; "" where all was as allowed, or nothing has run."""
        if self.last is None or (self.last.state == "ended" and self.last.exit_code == 0):
            return ""
        if self.last.exit_code == 1:
            return "last drill found a violation"
        return {"ended": "last drill says nothing for sure", "stopped": "last drill was stopped"}.get(
            self.last.state, "last drill could not run"
        )


def drills_told(*, workspace: Workspace) -> DrillsTold:
    """Return them for a workspace."""
    alerts = [alert.sentence for alert in alerts_open(workspace=workspace)]
    over = DrillRun.objects.filter(workspace=workspace).exclude(state__in=RUNNING).exclude(suite=GUIDED)
    return DrillsTold(
        runs=runs_latest(workspace=workspace, most=RUNS), alerts=alerts, last=over.order_by("-pk").first()
    )


def cells_of(*, workspace: Workspace, klass: str) -> list[DrillCase]:
    """Return the cases of an effect class in the newest run that judged any: those that are not allowed first."""
    ended = DrillRun.objects.filter(workspace=workspace, cases__klass=klass, cases__bug="").exclude(state__in=RUNNING)
    run = ended.order_by("-pk").first()
    if run is None:
        return []
    cases = [case for case in cases_counted(run) if case.klass == klass]
    return sorted(cases, key=lambda case: (case.as_allowed, case.row, case.cell))[:CELLS]


def proofs_of(*, tools: Collection[str]) -> dict[tuple[str, int], ToolProof]:
    """Return the newest trial of each version of these tools."""
    return {(proof.tool, proof.version): proof for proof in ToolProof.objects.filter(tool__in=tools)}
