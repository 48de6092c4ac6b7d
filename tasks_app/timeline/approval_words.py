"""Sentences for approvals as the task's record tells them. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.timeline.parts import Line, Part, line, name, quote

Data = Mapping[str, Any]


def _requested(data: Data, by: Part) -> Line:
    asks = (f"Asks {data.get('group')} to approve ", name(data.get("name")))
    return line(*asks, *quote(data.get("line")), tone="person", glyph="person")


def _decided(data: Data, by: Part) -> Line:
    yes = data.get("decision") == "approved"
    verb = " approved " if yes else " denied "
    said = quote(data.get("reason"))
    return line(name(data.get("by")), verb, name(data.get("name")), *said, tone="ok" if yes else "bad", glyph="person")


def _answered(data: Data, by: Part) -> Line:
    so_far = f" ({data.get('so_far')} of {data.get('quorum')})" if data.get("answer") == "approved" else ""
    verb = " would approve " if data.get("answer") == "approved" else " denies "
    said = (name(data.get("by")), verb, name(data.get("name")), so_far)
    return line(*said, *quote(data.get("reason")), tone="person", glyph="person")


def _escalated(data: Data, by: Part) -> Line:
    said = (f"{data.get('from_group')} did not decide ", name(data.get("name")), f" in time: asks {data.get('group')}")
    return line(*said, tone="person", glyph="timer")


def _sentence(before: str, after: str, *, tone: str = "", glyph: str = "") -> Callable[[Data, Part], Line]:
    def told(data: Data, by: Part) -> Line:
        return line(before, name(data.get("name")), after, *quote(data.get("reason")), tone=tone, glyph=glyph)

    return told


def _by_person(verb: str, after: str) -> Callable[[Data, Part], Line]:
    def told(data: Data, by: Part) -> Line:
        said = (name(data.get("by")), f" {verb} ", name(data.get("name")), after)
        return line(*said, *quote(data.get("reason")), tone="person", glyph="person")

    return told


APPROVAL_WORDS: Mapping[str, Callable[[Data, Part], Line]] = {
    "approval.requested": _requested,
    "approval.answered": _answered,
    "approval.decided": _decided,
    "approval.escalated": _escalated,
    "approval.overdue": _sentence("Nobody decided ", " in time: it keeps waiting", tone="person", glyph="timer"),
    "approval.expired": _sentence("Nobody decided ", " in time: it will not run", tone="bad", glyph="timer"),
    "approval.lapsed": _sentence("The approval of ", " is too old to be used: ask again", tone="bad", glyph="timer"),
    "approval.consumed": _sentence("The approval of ", " is used, once"),
    "approval.voided": _sentence("The approval of ", " is withdrawn", glyph="cancelled"),
    "approval.revoked": _by_person("took the unused approval of", " back"),
    "approval.reopened": _by_person("let the agent ask again for", ""),
}
