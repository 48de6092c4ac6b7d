"""``python -m tests.bench.watchers``: many browsers' sockets on one task, in a process of their own.

Reads ``{"url", "origin", "cookies", "after", "seconds"}`` from stdin, says ``ready`` when every socket has caught up,
and at the end prints, for each sequence, when each socket got it (seconds since the epoch).
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from typing import Any

from websockets.asyncio.client import connect

Seen = dict[int, list[float]]
AT_ONCE = 20  # sockets that open at the same time, as pages do when a web process has started anew


async def watch(
    told: dict[str, Any], cookie: str, gate: asyncio.Semaphore, caught_up: asyncio.Semaphore, seen: Seen
) -> None:
    """Follow the task as a page does; note when each frame with a new cursor came."""
    await gate.acquire()
    async with connect(
        told["url"],
        origin=told["origin"],
        additional_headers={"Cookie": cookie},
        compression=None,
        open_timeout=120,
        ping_interval=None,
    ) as socket:
        await socket.send(json.dumps({"type": "resume", "after": told["after"]}))
        cursor, late = told["after"], False
        async for text in socket:
            now = time.time()
            frame = json.loads(text)
            if "seq" in frame and frame["seq"] > cursor:
                assert frame["after"] == cursor, (frame["after"], cursor)
                for seq in range(cursor + 1, frame["seq"] + 1):
                    seen[seq].append(now)
                cursor = frame["seq"]
            if "head" in frame and not late:
                late = True
                gate.release()
                caught_up.release()


async def main() -> None:
    """Open the sockets, say ready, watch for the time that was asked for, print what was seen."""
    told = json.loads(sys.stdin.readline())
    gate, caught_up = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(0)
    seen: Seen = defaultdict(list)
    watching = [asyncio.create_task(watch(told, cookie, gate, caught_up, seen)) for cookie in told["cookies"]]
    for _ in watching:
        await caught_up.acquire()
    print("ready", flush=True)
    await asyncio.sleep(told["seconds"])
    ended = [task for task in watching if task.done()]
    assert not ended, ended[0]
    print(json.dumps(dict(sorted(seen.items()))), flush=True)
    for task in watching:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
