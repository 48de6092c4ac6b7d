"""The built-in workloads: what an agent does, what people do about it, how it must end. Pure data.

Each name of ``moves`` is something that a person does as soon as there is something to do it to (``people``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chaos_app.drills.copies import COPIED, COPY
from chaos_app.drills.names import Klass, Verdict

K, R, P, O, N = Klass.KEYED, Klass.READABLE, Klass.PRECONDITION, Klass.OPAQUE, Klass.NONE  # noqa: E741
EFFECTS = (K, R, P, O)
TOOLS = {K: "drill.ticket", R: "drill.mail", P: "drill.config", O: "drill.pay", N: "drill.stock"}
SYSTEMS = {K: "tickets", R: "mail", P: "config", O: "payments", N: "stock"}

FORMS = {**{tool: SYSTEMS[klass] for klass, tool in TOOLS.items()}, "drill.batch": "batch"}


def tool_name(klass: Klass, intent: Mapping[str, object]) -> str:
    """Return the tool that a case acts with: of its class, asking as its intent says."""
    form = next((f"_{name}" for name in ("lapsing", "hurried", "asked", "unsure") if intent.get(name)), "")
    return TOOLS[klass] + (form if klass != Klass.NONE else "")


def system_of_key(business_key: str) -> str:
    """Return the outside system of an act from its business key, "TOOL:MARK"."""
    tool = business_key.partition(":")[0]
    return FORMS[tool.partition("_")[0]]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One workload. ``effects``: how many the outside must hold in the end, by call name; ``drilled``: the call that
    carries the class of the cell. ``status``: of the task without a fault. ``children``: of the others, by their role.
    """

    name: str
    agent: str
    says: str
    classes: tuple[Klass, ...]
    moves: tuple[str, ...] = ()
    effects: Mapping[str, int] = field(default_factory=lambda: {"act": 1})
    drilled: str = "act"
    end: Verdict = Verdict.ONCE
    status: str = "completed"
    intent: Mapping[str, object] = field(default_factory=dict)
    children: Mapping[str, str] = field(default_factory=dict)
    items: int = 1
    promises: int | None = None  # effects that its criteria ask for, where that is another number
    expects: Mapping[str, int] | None = None  # the same by call, where the calls differ in it


NOTHING: Mapping[str, int] = {"act": 0}

WORKLOADS = (
    Workload(name="act", agent="drill.act", says="reads, acts once, reads, is done", classes=(*EFFECTS, N)),
    Workload(
        name="asked",
        agent="drill.act",
        says="acts once, after a person has approved it",
        classes=EFFECTS,
        moves=("approve",),
        intent={"asked": True},
    ),
    Workload(
        name="pair",
        agent="drill.pair",
        says="acts twice at once: a keyed and an opaque call",
        classes=(K,),
        effects={"act": 1, "other": 1},
    ),
    Workload(name="batch", agent="drill.batch", says="posts three items in one call", classes=(K,), items=3),
    Workload(
        name="chain",
        agent="drill.chain",
        says="acts three times, one after the other",
        classes=(K, R),
        effects={"act": 1, "act-2": 1, "act-3": 1},
    ),
    Workload(
        name="waits",
        agent="drill.waits",
        says="has a child, waits for it, for a signal and for a time, then acts",
        classes=(K,),
        moves=("signal",),
        children={"helper": "completed"},
    ),
    Workload(
        name="twice",
        agent="drill.twice",
        says="asks for the same act again under another name",
        classes=(K, O),
    ),
    Workload(name="asks", agent="drill.asks", says="asks a model, then acts", classes=EFFECTS),
    Workload(
        name="unsure",
        agent="drill.act",
        says="acts through a tool that cannot tell whether it has acted",
        classes=(R,),
        intent={"unsure": True},
    ),
    Workload(
        name="denied",
        agent="drill.act",
        says="a person says no",
        classes=(K,),
        moves=("deny",),
        effects=NOTHING,
        end=Verdict.NONE,
        intent={"asked": True},
    ),
    Workload(
        name="expired",
        agent="drill.act",
        says="nobody decides in time",
        classes=(K,),
        effects=NOTHING,
        end=Verdict.NONE,
        intent={"asked": True, "hurried": True},
    ),
    Workload(
        name="claims",
        agent="drill.claims",
        says="claims what does not hold, then does it",
        classes=(K,),
        status="unverified",
        effects=NOTHING,
        promises=1,
        end=Verdict.NONE,
    ),
    Workload(
        name="steered",
        agent="drill.act",
        says="a person pauses it while it waits for approval, resumes it, approves",
        classes=(K,),
        moves=("pause", "approve"),
        intent={"asked": True},
    ),
    Workload(
        name=COPIED,
        agent="drill.copied",
        says="acts twice, each time approved; then it is copied from between the two, and the copy acts on its own",
        classes=(K,),
        moves=("approve", "copy"),
        effects={"first": 1, "act": 2},
        intent={"asked": True},
        children={COPY: "completed"},
        expects={"first": 1, "act": 1},
    ),
)
BY_NAME = {workload.name: workload for workload in WORKLOADS}
