"""Controls: reading the ledger and the state, arming faults, and the world's own page. None of it is counted."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from chaos_app.world.armed import HELD_BY_HEADER
from chaos_app.world.errors import Refused
from chaos_app.world.faults import Plan, first_complaint
from chaos_app.world.outside import Outside
from chaos_app.world.page import page
from chaos_app.world.state import state
from chaos_app.world.systems import SYSTEMS
from chaos_app.world.web import body_read, json_read
from chaos_app.world.witness import effects_counted

FILTERS = ("key", "business_key", "call", "system")
STYLE = Path(__file__).with_name("page.css").read_bytes()
ICON = Path(__file__).with_name("icon.svg").read_bytes()
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECONDS_BETWEEN_LOOKS = 2


class Release(BaseModel):
    """What becomes of the parked requests."""

    model_config = ConfigDict(extra="forbid")
    then: Literal["go", "cut"] = "go"


class Settings(BaseModel):
    """What can be set while the world runs."""

    model_config = ConfigDict(extra="forbid")
    retention_seconds: Annotated[float, Field(ge=0)]


class Controls:
    """The endpoints beside the systems."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    def routes(self) -> list[Route]:
        """Every address of the controls."""
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "/", self.look),
            ("GET", "/page.css", self.style),
            ("GET", "/icon.svg", self.icon),
            ("GET", "/api/state", self.state),
            ("GET", "/health", self.health),
            ("GET", "/ledger", self.ledger),
            ("GET", "/ledger/effects", self.effects),
            ("GET", "/faults", self.faults),
            ("POST", "/faults", self.arm),
            ("DELETE", "/faults", self.disarm_all),
            ("GET", "/faults/{id:int}", self.fault),
            ("DELETE", "/faults/{id:int}", self.disarm),
            ("POST", "/faults/{id:int}/release", self.release),
            ("GET", "/settings", self.settings),
            ("PUT", "/settings", self.set),
            ("DELETE", "/keys", self.forget_keys),
        ]
        return [Route(path, endpoint, methods=[method]) for method, path, endpoint in table]

    async def look(self, request: Request) -> Response:
        """The page; ``?live=1`` reloads itself."""
        live = request.query_params.get("live") == "1"
        html = page(await state(self._outside), live=SECONDS_BETWEEN_LOOKS if live else None)
        return HTMLResponse(html, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-store"})

    async def style(self, request: Request) -> Response:
        """The page's style sheet."""
        return Response(STYLE, media_type="text/css")

    async def icon(self, request: Request) -> Response:
        """The page's icon."""
        return Response(ICON, media_type="image/svg+xml")

    async def state(self, request: Request) -> Response:
        """What the page shows, as JSON."""
        return JSONResponse(await state(self._outside, limit=_number(request, "limit", int) or 200))

    async def health(self, request: Request) -> Response:
        """Whether the world can read its storage."""
        self._outside.storage.row("SELECT 1")
        return JSONResponse({"status": "ok"})

    async def ledger(self, request: Request) -> Response:
        """Arrivals and effects, filtered by key, business_key, call, system, since, after and limit (of arrivals)."""
        filters = _filters(request)
        after, limit = _number(request, "after", int), _number(request, "limit", int)
        arrivals = self._outside.ledger.arrivals(**filters, after=after, limit=limit)
        effects, disagreements = await effects_counted(self._outside, **filters)
        return JSONResponse({"arrivals": arrivals, "effects": effects, "disagreements": disagreements})

    async def effects(self, request: Request) -> Response:
        """Effects only, and how many are no plant of a fault."""
        effects, disagreements = await effects_counted(self._outside, **_filters(request))
        count = sum(1 for effect in effects if not effect["planted"])
        return JSONResponse({"effects": effects, "count": count, "disagreements": disagreements})

    async def faults(self, request: Request) -> Response:
        """Every plan with its counts and its log."""
        return JSONResponse({"faults": self._outside.armed.all()})

    async def arm(self, request: Request) -> Response:
        """Arm a plan."""
        plan = await _body(request, Plan)
        if plan.system not in SYSTEMS:
            raise Refused(400, "invalid", f"There is no system {plan.system}; there are {', '.join(SYSTEMS)}.")
        return JSONResponse(self._outside.armed.arm(plan), 201)

    async def fault(self, request: Request) -> Response:
        """One plan; ``?reached=N&seconds=S`` waits until N requests reached its hold, at most S seconds."""
        count = _number(request, "reached", int)
        if not count:
            return JSONResponse(self._outside.armed.get(request.path_params["id"]))
        seconds = min(_number(request, "seconds", float) or 10.0, 60.0)
        return JSONResponse(await self._outside.armed.reached(request.path_params["id"], count=count, seconds=seconds))

    async def release(self, request: Request) -> Response:
        """Release what a hold has parked; ``{"then": "cut"}`` resets the connection instead."""
        then, fault_id = (await _body(request, Release)).then, request.path_params["id"]
        if fault_id != HELD_BY_HEADER:
            self._outside.armed.get(fault_id)
        return JSONResponse({"released": self._outside.armed.release(fault_id, then)})

    async def disarm(self, request: Request) -> Response:
        """Take a plan away."""
        self._outside.armed.get(request.path_params["id"])
        self._outside.armed.disarm(request.path_params["id"])
        return JSONResponse(self._outside.armed.get(request.path_params["id"]))

    async def disarm_all(self, request: Request) -> Response:
        """Take every plan away."""
        self._outside.armed.disarm()
        return JSONResponse({"faults": []})

    async def settings(self, request: Request) -> Response:
        """The settings in force."""
        return JSONResponse({"retention_seconds": self._outside.keys.retention})

    async def set(self, request: Request) -> Response:
        """Set the retention of keys."""
        self._outside.keys.retention = (await _body(request, Settings)).retention_seconds
        return await self.settings(request)

    async def forget_keys(self, request: Request) -> Response:
        """Forget every remembered key at once, as if its retention were over."""
        return JSONResponse({"forgotten": self._outside.keys.forget()})


async def _body[Body: BaseModel](request: Request, model: type[Body]) -> Body:
    content = await body_read(request)
    try:
        return model.model_validate(json_read(content) if content else {})
    except ValidationError as error:
        raise Refused(400, "invalid", first_complaint(error)) from error


def _filters(request: Request) -> dict[str, Any]:
    filters: dict[str, Any] = {name: request.query_params.get(name) for name in FILTERS}
    return filters | {"since": _number(request, "since", float)}


def _number[Number: (int, float)](request: Request, name: str, kind: type[Number]) -> Number | None:
    given = request.query_params.get(name)
    try:
        return kind(given) if given else None
    except ValueError as error:
        raise Refused(400, "invalid", f"{name} is not a number.") from error
