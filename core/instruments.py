"""The instruments themselves; imported only by processes that count (core/metrics.py)."""

from prometheus_client import Counter, Gauge, Histogram

APPEND = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)  # seconds
TAKEOVER = (0.01, 0.05, 0.1, 0.2, 0.4, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)
ANSWER = (0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
PUSH = (0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 1.0, 5.0, 15.0)


class Instruments:
    """One set for each process; of the same names in all, so that they can be added up."""

    def __init__(self) -> None:
        self.append = Histogram("handrail_append_seconds", "Time of one append to a record.", buckets=APPEND)
        self.takeover = Histogram(
            "handrail_takeover_seconds", "From a recorded loss of a worker to the next claim.", buckets=TAKEOVER
        )
        self.answers = Counter("handrail_http_answers", "HTTP answers.", ["method", "route", "status"])
        self.answer = Histogram("handrail_http_seconds", "Time of an HTTP answer.", ["route"], buckets=ANSWER)
        self.push = Histogram("handrail_live_push_seconds", "From commit to the socket.", buckets=PUSH)
        self.sockets = Gauge("handrail_live_sockets", "Live sockets that are open.", multiprocess_mode="livesum")
        self.hints = Gauge("handrail_live_hints_waiting", "Live hints not sent yet.", multiprocess_mode="livesum")
        self.lost_hints = Counter("handrail_live_hints_lost", "Live hints that the broker did not take.")
