"""How long calls wait for people, how often people say no, and whether they read first."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Aggregate, Count, DurationField, ExpressionWrapper, F, FloatField, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Extract

from approvals_app.models import ApprovalAnswer, ApprovalRequest
from approvals_app.status import Answer, ApprovalStatus, Via


class Percentile(Aggregate):
    """PostgreSQL's ``percentile_cont``: interpolated between the two nearest values."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line: of a tool, of a person, or of everything (``name`` empty).

    ``asked``: requests (a person: answers). ``waited``: seconds from request to decision (a person: to their answer);
    ``looked``: seconds from the opened card to the answer. ``refusals``: share of denials among decisions.
    """

    of: str  # all, tool, person
    name: str
    asked: int
    approved: int
    denied: int
    expired: int
    refusals: float | None
    waited_p50: float | None
    waited_p95: float | None
    looked_p50: float | None
    looked_p95: float | None
    hasty: int
    unopened: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What happened on the desk since a moment. A standing grant's answers are not a person's."""

    since: datetime
    all: Figure
    by_tool: Sequence[Figure]
    by_person: Sequence[Figure]

    @property
    def lines(self) -> list[Figure]:
        """Every line, in one list."""
        return [self.all, *self.by_tool, *self.by_person]


def approval_figures(*, workspaces: Sequence[UUID], since: datetime) -> Figures:
    """Return the figures of these workspaces for what was asked since then."""
    requests, answers = _asked(workspaces, since)
    looks = {row["request__tool"]: row for row in _looks(answers, "request__tool")}
    by_tool: Any = requests.values("tool").annotate(**_REQUESTS).order_by("tool")
    people = _looks(answers, "user__username", **_PEOPLE)
    return Figures(
        since=since,
        all=figures_total(workspaces=workspaces, since=since),
        by_tool=[_figure("tool", row["tool"], row, looks.get(row["tool"], {})) for row in by_tool],
        by_person=[_figure("person", row["user__username"], row, row) for row in people],
    )


def figures_total(*, workspaces: Sequence[UUID], since: datetime) -> Figure:
    """Return the line of everything that was asked since then."""
    requests, answers = _asked(workspaces, since)
    return _figure("all", "", requests.aggregate(**_REQUESTS), answers.aggregate(**_LOOKS))


def _asked(workspaces: Sequence[UUID], since: datetime) -> tuple[QuerySet[ApprovalRequest], QuerySet[ApprovalAnswer]]:
    """Select the requests since then and their answers, without those that a standing grant answered."""
    requests = ApprovalRequest.objects.filter(workspace__in=workspaces, requested_at__gte=since)
    answers = ApprovalAnswer.objects.filter(request__workspace__in=workspaces, request__requested_at__gte=since)
    return requests.exclude(decided_via=Via.GRANT), answers.exclude(via=Via.GRANT)


def figures_csv(figures: Figures) -> str:
    """Write the figures as a table: one line each, times in seconds."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(Figure)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(_safe(asdict(line)) for line in figures.lines)
    return out.getvalue()


def _safe(line: dict[str, Any]) -> dict[str, Any]:
    """A name that a spreadsheet would take for a formula is written as text."""
    name = str(line["name"])
    return line | {"name": f"'{name}" if name[:1] in {"=", "+", "-", "@", "\t", "\r"} else name}


def _seconds(later: str, earlier: Any) -> Extract:
    return Extract(ExpressionWrapper(F(later) - earlier, output_field=DurationField()), "epoch")


_WAITED = _seconds("decided_at", F("requested_at"))
_LOOKED = _seconds("at", Coalesce(F("opened_at"), F("at")))
_ANSWERED = _seconds("at", F("request__requested_at"))
_REQUESTS: dict[str, Any] = {
    "asked": Count("pk"),
    "approved": Count("pk", filter=Q(decision=Answer.APPROVED)),
    "denied": Count("pk", filter=Q(decision=Answer.DENIED)),
    "expired": Count("pk", filter=Q(status=ApprovalStatus.EXPIRED)),
    "waited_p50": Percentile(_WAITED, share=0.5, filter=Q(decided_at__isnull=False)),
    "waited_p95": Percentile(_WAITED, share=0.95, filter=Q(decided_at__isnull=False)),
}
_LOOKS: dict[str, Any] = {
    "looked_p50": Percentile(_LOOKED, share=0.5, filter=Q(opened_at__isnull=False)),
    "looked_p95": Percentile(_LOOKED, share=0.95, filter=Q(opened_at__isnull=False)),
    "hasty": Count("pk", filter=Q(hasty=True)),
    "unopened": Count("pk", filter=Q(opened_at=None)),
}
_PEOPLE: dict[str, Any] = {
    "asked": Count("pk"),
    "approved": Count("pk", filter=Q(answer=Answer.APPROVED)),
    "denied": Count("pk", filter=Q(answer=Answer.DENIED)),
    "waited_p50": Percentile(_ANSWERED, share=0.5),
    "waited_p95": Percentile(_ANSWERED, share=0.95),
    "last": Max("at"),
}


def _looks(answers: QuerySet[ApprovalAnswer], by: str, **more: Any) -> list[dict[str, Any]]:
    return list(answers.values(by).annotate(**_LOOKS, **more).order_by(by))


def _figure(of: str, name: str, row: dict[str, Any], looks: dict[str, Any]) -> Figure:
    decided = row["approved"] + row["denied"]
    return Figure(
        of=of,
        name=name,
        asked=row["asked"],
        approved=row["approved"],
        denied=row["denied"],
        expired=row.get("expired", 0),
        refusals=round(row["denied"] / decided, 4) if decided else None,
        waited_p50=_round(row["waited_p50"]),
        waited_p95=_round(row["waited_p95"]),
        looked_p50=_round(looks.get("looked_p50")),
        looked_p95=_round(looks.get("looked_p95")),
        hasty=looks.get("hasty", 0),
        unopened=looks.get("unopened", 0),
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(float(value), 3)
