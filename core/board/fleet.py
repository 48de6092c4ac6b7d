"""Workers as a person looks at them: problems first, each with the leases that it holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings

from core.models import Workspace
from core.words import Word
from tasks_app.models import Task, Worker
from tasks_app.sweeper_row import POOL

SHOWN_FOR = timedelta(hours=24)  # since a worker was last seen
MOST = 200
LEASES = 12  # shown of one worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One start of one worker. ``rank``: problems come first. ``leases``: of this workspace, ``others`` elsewhere."""

    worker: Worker
    state: str
    rank: int
    problem: str = ""
    leases: list[Task] = field(default_factory=list)
    more: int = 0
    others: int = 0

    @property
    def word(self) -> Word:
        """How its state is shown."""
        return WORDS[self.state]

    @property
    def is_alive(self) -> bool:
        """Whether its keeper was heard within a lease."""
        return self.state in {"alive", "draining"}

    @property
    def is_sweeper(self) -> bool:
        """Whether it is no worker but a sweeper."""
        return bool(self.worker.pool == POOL)

    @property
    def carried(self) -> list[str]:
        """Agents and tools with their versions, as it announced them."""
        return [
            f"{name} {', '.join(f'v{version}' for version in versions)}"
            for kind in ("agents", "tools")
            for name, versions in sorted(self.worker.carries.get(kind, {}).items())
        ]


WORDS: Mapping[str, Word] = {
    "holding": Word("stopped", "Gone, still holds tasks", "bad"),
    "gone": Word("cancelled", "Gone", "idle"),
    "replaced": Word("cancelled", "Ended, started again", "idle"),
    "died": Word("cancelled", "Gone without a word, started again", "idle"),
    "draining": Word("cancelling", "Draining", "person"),
    "alive": Word("done", "Alive", "ok"),
}
_RANK = ["holding", "gone", "draining", "alive", "died", "replaced"]


def fleet(*, workspace: Workspace, now: datetime) -> list[Member]:
    """Return the workers that were seen in the last day: those with a problem first, those long replaced last."""
    rows = list(Worker.objects.filter(seen_at__gte=now - SHOWN_FOR).order_by("-seen_at")[:MOST])
    held, others = _held(workspace)
    fresh = now - timedelta(seconds=settings.LEASE_SECONDS)
    living = {row.name for row in rows if row.seen_at > fresh}
    members = [_member(row, row.seen_at > fresh, living, held.get(row.name, []), others[row.name]) for row in rows]
    return sorted(members, key=lambda one: (one.rank, one.worker.name))


def problems(members: list[Member], *, workspace: Workspace) -> Iterator[str]:
    """Say in sentences what is wrong with all of them together."""
    alive = [one for one in members if one.is_alive]
    if not any(not one.is_sweeper for one in alive):
        yield "No worker lives. Tasks keep their place and go on as soon as one starts."
    if not any(one.is_sweeper for one in alive):
        yield "No sweeper lives. What is due without a message is not noticed until one starts."
    codes = {one.worker.code_digest for one in alive if not one.is_sweeper}
    if len(codes) > 1:
        yield f"{len(codes)} versions of the code run at once, as while an upgrade rolls out."
    carried = {(n, v) for one in alive for n, vs in one.worker.carries.get("agents", {}).items() for v in vs}
    waits = Task.objects.filter(workspace=workspace, status="waiting", wait__kind="worker_version")
    for agent, version in sorted(set(waits.values_list("agent", "agent_version")) - carried):
        yield f"Tasks of {agent} version {version} wait: no living worker carries it."


def _held(workspace: Workspace) -> tuple[dict[str, list[Task]], Counter[str]]:
    mine: dict[str, list[Task]] = {}
    others: Counter[str] = Counter()
    leased = Task.objects.filter(lease_nonce__isnull=False).order_by("pk")
    for task in leased.defer("intent", "done_when", "labels", "claim")[: MOST * 10]:
        if task.workspace_id == workspace.pk:
            mine.setdefault(task.lease_holder, []).append(task)
        else:
            others[task.lease_holder] += 1
    return mine, others


def _member(row: Worker, fresh: bool, living: set[str], held: list[Task], others: int) -> Member:
    if fresh:
        state = "draining" if row.draining else "alive"
    elif row.name in living:
        ended = row.draining or row.pool == POOL  # a worker that is asked to end says so; one that is killed does not
        state, held, others = "replaced" if ended else "died", [], 0  # the leases of that name are its successor's
    else:
        state = "holding" if held or others else "gone"
    return Member(
        worker=row,
        state=state,
        rank=_RANK.index(state),
        leases=held[:LEASES],
        more=max(0, len(held) - LEASES),
        others=others,
    )
