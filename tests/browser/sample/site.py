"""The ASGI application of the sample site: Django, one socket, one poll address, and `/control/` for the test."""

import asyncio
import json
import os
from dataclasses import dataclass, field
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.browser.sample.settings"

from django.core.asgi import get_asgi_application
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

django = get_asgi_application()


@dataclass
class State:
    """What the socket has seen and how it behaves."""

    sockets: set[WebSocket] = field(default_factory=set)
    received: list[Any] = field(default_factory=list)
    polled: list[str] = field(default_factory=list)
    blocked: bool = False
    refuse_with: int = 0
    poll: dict[str, Any] = field(default_factory=lambda: {"status": 200, "body": {"head": 0}})


STATE = State()


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        return await socket(WebSocket(scope, receive, send))
    path = scope.get("path", "")
    if path == "/poll/":
        return await poll(Request(scope, receive))(scope, receive, send)
    if path.startswith("/control/"):
        return await (await control(Request(scope, receive)))(scope, receive, send)
    return await django(scope, receive, send)


def poll(request: Request) -> Response:
    STATE.polled.append(request.query_params.get("after", ""))
    return JSONResponse(STATE.poll["body"], status_code=STATE.poll["status"])


async def socket(ws: WebSocket) -> None:
    if STATE.blocked:
        return await ws.close()
    await ws.accept()
    if STATE.refuse_with:
        return await ws.close(STATE.refuse_with)
    STATE.sockets.add(ws)
    try:
        while True:
            STATE.received.append(json.loads(await ws.receive_text()))
    except WebSocketDisconnect:
        STATE.sockets.discard(ws)


async def control(request: Request) -> Response:
    order = await request.json()
    if "reset" in order:
        # In place: the sockets of a page that is being closed still hold the object.
        STATE.__init__()  # type: ignore[misc]
    if "push" in order:
        await asyncio.gather(*(ws.send_text(order["push"]) for ws in STATE.sockets))
    if "close" in order:
        sockets, STATE.sockets = STATE.sockets, set()
        await asyncio.gather(*(ws.close(order["close"]) for ws in sockets))
    for name in ("blocked", "refuse_with", "poll"):
        if name in order:
            setattr(STATE, name, order[name])
    return JSONResponse({"received": STATE.received, "polled": STATE.polled, "open": len(STATE.sockets)})
