"""Steps a second of one workflow in a peer, run by the peers' own environment: ``peer_steps.py PEER URL STEPS``.

Prints one number. A step returns its index and does nothing else; the peer records it as it always does.
"""

import subprocess
import sys
import time
from pathlib import Path


def dbos(url: str, steps: int) -> float:
    from dbos import DBOS

    @DBOS.step()
    def tick(index: int) -> int:
        return index

    @DBOS.workflow()
    def chain(count: int) -> int:
        return sum(tick(index) for index in range(count))

    DBOS(config={"name": "peer", "system_database_url": url, "log_level": "ERROR"})
    DBOS.launch()
    chain(50)
    started = time.perf_counter()
    chain(steps)
    took = time.perf_counter() - started
    DBOS.destroy()
    return steps / took


def absurd(url: str, steps: int) -> float:
    import psycopg
    from absurd_sdk import Absurd

    _absurd_schema(url)
    app = Absurd(psycopg.connect(url, autocommit=True, prepare_threshold=0), queue_name="default")
    app.create_queue("default")

    @app.register_task(name="chain")
    def chain(params, ctx):  # type: ignore[no-untyped-def]
        for index in range(params["count"]):
            ctx.step(f"step-{index}", lambda value=index: value)
        return {}

    def run(count: int) -> float:
        app.spawn("chain", {"count": count})
        started = time.perf_counter()
        app.work_batch(worker_id="bench", claim_timeout=120, batch_size=1)
        return time.perf_counter() - started

    run(50)
    return steps / run(steps)


def _absurd_schema(url: str) -> None:
    """Apply the schema of the same release, by its own command (which calls psql)."""
    control = str(Path(sys.executable).parent / "absurdctl")
    subprocess.run([control, "init", "-d", url], check=True, capture_output=True)


if __name__ == "__main__":
    print({"dbos": dbos, "absurd": absurd}[sys.argv[1]](sys.argv[2], int(sys.argv[3])))
