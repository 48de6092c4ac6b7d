"""The HTTP API: every router under /api/v1/, one authentication, one answer to errors."""

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from approvals_app.api import router as approvals
from approvals_app.gate_api import router as gate
from approvals_app.notify.api import alerts_router, channels_router, deliveries_router
from chaos_app.api import router as drills
from core.api_access import SessionOrToken, StrictParser
from core.errors import InvalidInput, NotFound
from core.problem import problem_answer, problem_plain, problem_response
from tasks_app.api.credentials import router as credentials
from tasks_app.api.health import router as health
from tasks_app.api.stops import router as stops
from tasks_app.api.tasks import router as tasks

api = NinjaAPI(
    title="Handrail",
    version="1",
    description="Tasks, their records and what people may do to them. Every error is problem details (RFC 9457).",
    auth=SessionOrToken(),
    parser=StrictParser(),
    urls_namespace="api-1",
)
api.add_router("", health, tags=["health"])
api.add_router("/tasks", tasks, tags=["tasks"])
api.add_router("/approvals", approvals, tags=["approvals"])
api.add_router("/gate", gate, tags=["gate"])
api.add_router("/stops", stops, tags=["stops"])
api.add_router("/drills", drills, tags=["drills"])
api.add_router("/credentials", credentials, tags=["credentials"])
api.add_router("/alerts", alerts_router, tags=["alerts"])
api.add_router("/deliveries", deliveries_router, tags=["alerts"])
api.add_router("/channels", channels_router, tags=["alerts"])


@api.exception_handler(Exception)
def failed(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer every error by the one table."""
    return problem_answer(request, error)


@api.exception_handler(HttpError)
def refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer what the framework refuses: a body that is not JSON, for example."""
    return problem_response(request, problem_plain(error.status_code, detail=f"{error.message}"))


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name every field that does not fit; an address that cannot be one is the same as an unknown one."""
    if any(item["loc"][0] == "path" for item in error.errors):
        return problem_answer(request, NotFound())
    errors = [{"field": ".".join(map(str, item["loc"][1:])), "reason": item["msg"]} for item in error.errors]
    return problem_answer(request, InvalidInput(errors=errors))
