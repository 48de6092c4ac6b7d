"""Downloads: what is stored apart from its event, and the whole record. Never something that a browser would run."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.downloads import download
from tasks_app.record.export import export_lines, export_name, stream_head
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


@never_cache
@login_required
@require_safe
def record_file(request: HttpRequest, task: UUID) -> StreamingHttpResponse:
    """Send a record as a file that anybody can check; needs the right to export."""
    principal, row = task_reader(request, task)
    principal.require(Right.RECORD_EXPORT)
    head = stream_head(row.pk)
    return download(request, name=export_name(head), lines=export_lines(head))
