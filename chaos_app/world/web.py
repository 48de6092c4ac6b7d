"""HTTP: from a request to a visit, and from an answer to bytes or to a connection that is cut."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from chaos_app.world.attend import Answer, attend
from chaos_app.world.errors import Refused
from chaos_app.world.faults import fault_read
from chaos_app.world.marks import FAULT, IDEMPOTENCY_KEY, Marks, marks_read
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.visit import Reply, Visit

LARGEST_BODY = 4 * 1024 * 1024
GARBAGE = b'{"id": "T-\xff\xfe<<<<< upstream connect error, reset reason: garbage'
CHUNKS = 20

_transports: dict[Any, asyncio.Transport] = {}


class CuttableProtocol(H11Protocol):
    """Remembers the transport of each connection by its peer, so that an answer can be lost for real."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Note the transport under the peer's address."""
        super().connection_made(transport)
        _transports[self.client] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        _transports.pop(self.client, None)
        super().connection_lost(exc)


class CutResponse(Response):
    """No answer at all: the connection is reset."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reset the connection and wait until the server has noticed."""
        transport = _transports.get(tuple(scope["client"] or ()))
        if transport is None:
            return
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


def problem(refused: Refused) -> JSONResponse:
    """A refusal as ``application/problem+json``."""
    return JSONResponse(refused.problem(), refused.status, media_type="application/problem+json")


def route(outside: Outside, operation: Operation) -> Route:
    """The route of one operation of a system."""

    async def endpoint(request: Request) -> Response:
        try:
            visit = await visit_read(operation, request)
        except ClientDisconnect:
            return CutResponse()
        except Refused as refused:
            return problem(refused)
        return response(await attend(outside, visit, operation.work))

    return Route(operation.path, endpoint, methods=[operation.method], name=f"{operation.system}.{operation.name}")


async def visit_read(operation: Operation, request: Request) -> Visit:
    """Read the whole request. Raises ``Refused`` where it is too large or cannot be read."""
    headers = request.headers
    content = await body_read(request)
    arguments = json_read(content) if "json" in headers.get("content-type", "") else None
    if request.method == "GET":
        arguments = dict(request.query_params)
    told = headers.get(FAULT)
    return Visit(
        system=operation.system,
        operation=operation.name,
        acts=operation.acts,
        method=request.method,
        path=request.url.path,
        marks=_marks(request, arguments),
        arguments=arguments,
        content=content,
        parameters={name: str(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        headers=dict(headers),
        idempotency_key=headers.get(IDEMPOTENCY_KEY) if operation.keyed else None,
        fault=fault_read(told) if told else None,
    )


async def body_read(request: Request) -> bytes:
    """The body, up to the limit. Raises ``Refused`` (413) as soon as it is exceeded."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST_BODY:
            raise Refused(413, "too_large", f"A body may have {LARGEST_BODY} bytes.")
    return bytes(content)


def json_read(content: bytes) -> Any:
    """JSON as the standard means it: no NaN, no Infinity. Raises ``Refused`` (400)."""
    try:
        return json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "not_json", f"The body is not JSON: {error}") from error


def response(answer: Answer) -> Response:
    """The answer on the wire."""
    if answer.ending == "cut":
        return CutResponse()
    if answer.ending == "garbage":
        return Response(GARBAGE, 200, media_type="application/json")
    whole = _plain(answer.reply)
    if answer.ending == "slow":
        headers = {name: value for name, value in whole.headers.items() if name.lower() != "content-length"}
        return StreamingResponse(_trickle(bytes(whole.body), answer.seconds), whole.status_code, headers)
    return whole


def _plain(reply: Reply) -> Response:
    if isinstance(reply.body, bytes):
        return Response(reply.body, reply.status, dict(reply.headers))
    kind = "application/problem+json" if reply.status >= 400 else "application/json"
    return JSONResponse(reply.body, reply.status, dict(reply.headers), media_type=kind)


async def _trickle(body: bytes, seconds: float) -> AsyncIterator[bytes]:
    size = max(1, -(-len(body) // CHUNKS))
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    for piece in pieces:
        await asyncio.sleep(seconds / len(pieces))
        yield piece


def _marks(request: Request, arguments: Any) -> Marks:
    marks = marks_read(request.headers.get)
    inside = arguments.get("business_key") if isinstance(arguments, dict) else None
    if marks.business_key is None and isinstance(inside, str) and inside:
        return marks_read(lambda name: inside if "Business" in name else request.headers.get(name))
    return marks


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


async def refused_answer(request: Request, error: Exception) -> Response:
    """Starlette's handler for refusals that no system made."""
    return problem(cast(Refused, error))
