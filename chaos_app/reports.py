"""The reports of a stored run, as files to download."""

from django.http import HttpResponse

from chaos_app.drills.report import report_html, report_json, report_junit
from chaos_app.models import DrillRun
from chaos_app.services.run_end import run_results
from core.errors import Conflict, NotFound

FORMATS = {"html": report_html, "json": report_json, "junit": report_junit}
TYPES = {"html": "text/html; charset=utf-8", "json": "application/json", "junit": "application/xml"}
OTHER_VERSION = "Some evidence of this run is of another version: no report is made of it here; all evidence is there."


def report_file(run: DrillRun, form: str) -> HttpResponse:
    """Return a report as a file. Raises NotFound (no such form), Conflict (evidence of another version)."""
    if form not in FORMATS:
        raise NotFound
    try:
        results = run_results(run)
    except ValueError as error:
        raise Conflict(OTHER_VERSION) from error
    ending = "xml" if form == "junit" else form
    return download(FORMATS[form](results), TYPES[form], f"drill-{run.pk}.{ending}")


def download(content: str | bytes, kind: str, name: str) -> HttpResponse:
    """Answer with a file that is saved, never shown: it carries a style of its own."""
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
