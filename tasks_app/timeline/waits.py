"""What a task waits for, in a few words. Pure: no Django."""

from collections.abc import Mapping
from typing import Any

from tasks_app.timeline.parts import Line, line, name, names, quote


def waits_words(status: str, wait: Mapping[str, Any] | None, *, place: str = "", why: object = None) -> Line:
    """Return what the task waits for, empty where it waits for nothing.

    ``place``: where it lost workers. ``why``: it failed, as it was said.
    """
    on = (wait or {}).get("on")
    if status == "failed":
        return line(*quote(why, before=""))
    if status == "in_doubt":
        return line("you: what happened to ", names(on)) if on else line("you")
    if status == "quarantined":
        return line("you: it lost workers at ", name(place))
    if status == "unverified":
        return line("you: check again or cancel")
    if status != "waiting" or not wait:
        return line()
    return _of_kind(str(wait.get("kind")), wait, on)


def _of_kind(kind: str, wait: Mapping[str, Any], on: Any) -> Line:
    match kind:
        case "approval":
            return line("approval of ", names(on))
        case "signal":
            return line("signal ", names(on))
        case "child":
            return line("child task ", names(on))
        case "timer":
            return line("time of ", name(wait.get("name")))
        case "look_up":
            return line("the time to go on with ", names(on))
        case "work":
            return line("outside work of ", names(on))
        case "outside":
            return line("its agent, outside: ", names(on)) if on else line("its agent, outside")
        case "worker_version":
            wanted = on if isinstance(on, Mapping) else {}
            return line("a worker that carries ", names(f"{wanted['agent']} {wanted['version']}" if wanted else on))
        case _:
            return line(names(on)) if on else line()
