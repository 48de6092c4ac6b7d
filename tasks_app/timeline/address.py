"""Where an event is shown."""

from uuid import UUID

from django.urls import reverse


def event_address(task: UUID, seq: int) -> str:
    """Return the address of an event on its task's timeline, where all of it can be read."""
    return f"{reverse('task', args=[task])}?event={seq}#event-{seq}"
