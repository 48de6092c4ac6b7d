"""The files between the page and the run's controller: the state that it shows, the orders that it is given."""

import json
import os
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
STATE, ORDERS = "guided.json", "orders"
STOP = "stop"  # as in the folder of any run


def state_write(folder: Path, state: Json) -> None:
    """Replace the state whole: a reader never sees half of it."""
    fresh = folder / f".{STATE}"
    fresh.write_text(json.dumps(state, default=str))
    fresh.replace(folder / STATE)


def state_read(folder: Path) -> Json | None:
    """Return the newest state; None before there is one."""
    try:
        found = json.loads((folder / STATE).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def state_end(folder: Path, stage: str, *, problem: str = "") -> None:
    """Show how it ended, beside what was seen last: the servers go, the picture stays."""
    over: Json = {"stage": stage, "ended": True, "until": None, "asked": "", "problem": problem}
    state_write(folder, {**(state_read(folder) or {}), **over})


def order_give(folder: Path, order: Json) -> None:
    """Leave an order for the controller; orders are read in the order of their names."""
    place = folder / ORDERS
    place.mkdir(exist_ok=True)
    name = f"{time.time_ns()}-{os.getpid()}"
    fresh = place / f".{name}"
    fresh.write_text(json.dumps(order))
    fresh.replace(place / f"{name}.json")


def orders_take(folder: Path) -> list[Json]:
    """Return the orders that came, each once. That the run is asked to stop is the order to end, for good."""
    found: list[Json] = [{"do": "end"}] if (folder / STOP).exists() else []
    for file in sorted((folder / ORDERS).glob("[0-9]*.json")):
        found.append(json.loads(file.read_text()))
        file.unlink()
    return found
