"""The count of waiting approvals in the frame of every page, live."""

from collections.abc import Callable
from dataclasses import dataclass

from django.template.loader import render_to_string

from approvals_app.rights import workspaces_of
from approvals_app.selectors.waiting import approvals_waiting_count, waiting_fingerprint
from core.access import Right
from core.hints import list_group_of
from tasks_app.live.message import Message
from tasks_app.live.reader import Listener


@dataclass(slots=True)
class WaitingPart:
    """Tells one reader's pages how many approvals wait for them. See ``tasks_app.live.frame``."""

    listener: Listener
    _told: int | None = None

    def groups(self) -> list[str]:
        """Return the groups whose hints may change the count: the lists of the reader's workspaces."""
        workspaces = workspaces_of(user=self.listener.user(), right=Right.APPROVALS_READ)
        return [list_group_of(workspace) for workspace in workspaces]

    @property
    def fingerprint(self) -> Callable[[], object]:
        """See ``tasks_app.live.frame``."""
        return waiting_fingerprint

    def forget(self) -> None:
        """The page resumes: tell it once more."""
        self._told = None

    def read(self) -> Message | None:
        """Return the new count with its fragments, or None where it is the old one."""
        count = approvals_waiting_count(user=self.listener.user())
        if count == self._told:
            return None
        more = self._told is not None and count > self._told
        self._told = count
        message: Message = {"html": waiting_html(count), "waiting": count}
        return message | ({"say": waiting_sentence(count)} if more else {})


def waiting_html(count: int) -> str:
    """Return the badge of the bar and the count of the navigation, to be swapped in."""
    context = {"approvals_waiting": count, "oob": True}
    return render_to_string("partials/waiting_badge.html", context) + render_to_string(
        "partials/waiting_place.html", context
    )


def waiting_sentence(count: int) -> str:
    """Say how many wait."""
    return "One approval waits for you." if count == 1 else f"{count} approvals wait for you."
