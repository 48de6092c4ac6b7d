"""One click from a worker change on a task's timeline to the case that reproduces it."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from chaos_app.services.pin import NoSuchDrill, takeover_pin
from core.access import Right
from core.places import place_url
from tasks_app.views.who import task_reader


@login_required
@require_POST
def pin(request: HttpRequest, task: UUID, seq: int) -> HttpResponse:
    """Pin it, and lead to the launch page with that case chosen; back to the event where no drill makes it again."""
    principal, row = task_reader(request, task)
    principal.require(Right.DRILLS_RUN)
    try:
        made = takeover_pin(workspace=principal.workspace, user=principal.user, task=row.pk, lost=seq)
    except NoSuchDrill as why:
        messages.error(request, f"Not pinned. {why.detail}")
        return HttpResponseRedirect(f"{reverse('task', args=[row.pk])}?event={seq}#event-{seq}", status=303)
    messages.success(request, f"Pinned as the drill case {made.cell}. {made.note}")
    target = {"target": made.target} if made.target else {}
    return HttpResponseRedirect(
        place_url(principal, "drill-launch", suite="full", cell=made.cell, **target), status=303
    )
