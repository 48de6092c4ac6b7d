"""What is new on the card of a call in doubt: what look-ups and late answers said, whether somebody settled it."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.template.loader import render_to_string

from core.principal import Principal
from tasks_app.live.parts import Part, PartsFeed
from tasks_app.selectors.doubt import doubt_of
from tasks_app.selectors.tasks import task_get

PARTS = ("state", "found", "send")


@dataclass(slots=True, kw_only=True)
class DoubtFeed(PartsFeed[Principal]):
    """Follows one call for one reader. ``who`` is asked at every read and raises where the right is gone."""

    task: UUID
    name: str

    def fragments(self, principal: Principal) -> Iterator[Part]:
        """See PartsFeed."""
        task = task_get(workspace=principal.workspace, task=self.task)
        doubt = doubt_of(task=task, name=self.name)
        # The words of a time change by themselves: the card has changed when the call has.
        if self._sent.changed([("seen", f"{doubt.call.state} {doubt.not_before} {doubt.seq}")]):
            context = {"task": task, "doubt": doubt, "oob": True}
            for part in PARTS:
                yield part, render_to_string(f"tasks/_doubt_{part}.html", context)
