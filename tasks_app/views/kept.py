"""What is stored apart from its event, as a download: never something that a browser would run."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.selectors.events import blob_get
from tasks_app.views.who import task_reader


@never_cache
@login_required
@require_safe
def kept_file(request: HttpRequest, task: UUID, sha256: str) -> HttpResponse:
    """Send the bytes under the name of their digest."""
    _, row = task_reader(request, task)
    found = blob_get(task=row, sha256=sha256)
    response = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{found.sha256}"'
    return response
