"""The words of a drill: effect classes as the matrix has them, fault kinds, stages, proofs, verdicts. Pure."""

from enum import StrEnum


class Klass(StrEnum):
    """A column of the matrix: what the tool of the call that is drilled promises."""

    NONE = "none"
    KEYED = "keyed"
    READABLE = "readable"
    PRECONDITION = "precondition"  # readable, and the provider refuses a write to a state that has moved
    OPAQUE = "opaque"
    ANY = "any"  # the place lies in no call: no outside effect can be open there


class Fault(StrEnum):
    """What is done to the system. The comment names who suffers it."""

    KILL = "SIGKILL"  # the process at the boundary
    KILL_WORKER = "SIGKILL of the worker"  # with all its children
    KILL_BOTH = "SIGKILL of worker and keeper"  # nobody is left to prove the death: the lease runs out
    TERM = "SIGTERM"
    TERM_TWICE = "SIGTERM twice"
    QUIT = "SIGQUIT"
    ZOMBIE = "SIGSTOP until the lease is lost, then SIGCONT"
    FORSAKEN = "SIGSTOP, its keeper killed, SIGCONT after the next worker was done"  # nobody ends it in time
    HANG = "hang"
    EXCEPTION = "exception"
    SANDBOX = "sandbox killed"
    CONNECTION_CUT = "database connection cut"
    DATABASE_RESTART = "database restarted"
    FAILOVER = "database set back"  # its last commits are lost
    BROKER_STOPPED = "broker stopped"
    BROKER_EMPTIED = "broker emptied"
    BROKER_RESTART = "broker restarted"
    MESSAGE_TWICE = "message delivered twice"
    MESSAGE_LOST = "message lost"
    ANSWER_LOST = "answer lost"
    ANSWER_LATE = "answer late"
    ANSWER_GARBAGE = "answer garbage"
    ANSWER_SLOW = "answer slow"
    ANSWER_ERROR = "error after applying"
    EFFECT_LATE = "effect arrives late"
    EFFECT_HIDDEN = "effect hidden"  # the look-up contradicts the outcome
    EFFECT_PLANTED = "second effect planted"  # likewise; marked, and not counted
    CREDENTIAL = "credential expired"
    DECIDED_TWICE = "approval decided by many at once"
    RESUMED_BY_MANY = "resumed by many at once"
    EXPIRED = "approval expired"
    REVOKED = "approval revoked"
    EDITED = "call edited"
    CANCELLED = "task cancelled"
    STOPPED = "stop switch set"
    CLOCK = "worker's clock wrong"
    SWEEPER = "sweeper killed"
    TWO_SWEEPERS = "two sweepers"


class Stage(StrEnum):
    """How far a fault, and then its case, has come."""

    ARMED = "armed"
    REACHED = "reached"  # a process waits exactly there
    FIRED = "fired"  # the fault was done
    LANDED = "landed"  # and is proven
    FAILED = "failed"  # it was done, and what it should do did not happen
    RESUMED = "taken over"
    QUIET = "quiet"  # nothing moves any more


class Proof(StrEnum):
    """How a fault was proven to have landed (H1, by kind)."""

    EXIT_STATUS = "exit status"  # reported by the parent: the controller, or the worker's main process
    PROCESS_GONE = "process gone"  # pidfd; no parent was left to report
    STOPPED = "process stopped"  # state T was seen, and its lease was lost meanwhile
    BACKEND_GONE = "backend gone"
    SERVER_RESTARTED = "server start time changed"
    PROXY_LOG = "proxy log"  # of the drill's own proxy before database, broker or target
    WITNESS_LOG = "witness log"
    TOLD = "told by the process"  # at the place, over its connection to the controller
    RECORD = "record"  # a person's or the switch's act: it is an event of the record


class Verdict(StrEnum):
    """What became of a case, worst first."""

    REPEATED = "REPEATED"  # an effect happened twice (S1)
    LOST = "LOST"  # an effect of a completed task never happened (S6)
    WRONG = "WRONG"  # another invariant is broken, or it ended otherwise than without the fault
    STUCK = "STUCK"  # it never came to an end that names who acts next (L1 to L4)
    NOT_FIRED = "NOT_FIRED"  # the fault never landed (H1)
    INCONCLUSIVE = "INCONCLUSIVE"  # the evidence cannot tell (H2 to H4)
    BLOCKED = "BLOCKED"  # held for a person, with evidence and an action
    NONE = "NONE"  # zero effects, rightly
    ONCE = "ONCE"  # every effect exactly once


VIOLATIONS = frozenset({Verdict.REPEATED, Verdict.LOST, Verdict.WRONG, Verdict.STUCK})
UNDECIDED = frozenset({Verdict.NOT_FIRED, Verdict.INCONCLUSIVE})
