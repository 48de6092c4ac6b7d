"""Configuration in git: readable by the trailer ``Handrail-Key``, with a precondition (``If-Match``)."""

import asyncio
import copy
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from chaos_app.world.errors import Refused
from chaos_app.world.marks import PLANTED
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.repository import SERVICE, SERVICE_TRAILER, Commit
from chaos_app.world.visit import Input, Reply, Visit

SYSTEM = "config"


class Change(Input):
    """Either the whole new configuration (``values``) or single settings by dotted name (``set``)."""

    values: dict[str, Any] | None = None
    set: dict[str, Any] | None = None
    summary: Annotated[str, Field(max_length=200)] = ""


async def config_read(outside: Outside, visit: Visit) -> Reply:
    """The configuration of one service and its version."""
    service = _service(visit)
    found = await asyncio.to_thread(outside.repository.read, service)
    if found is None:
        raise Refused(404, "not_found", f"There is no configuration for {service}.")
    return _shown(service, *found)


async def config_services(outside: Outside, visit: Visit) -> Reply:
    """The services that have a configuration."""
    return Reply(200, {"services": await asyncio.to_thread(outside.repository.services)})


async def config_change(outside: Outside, visit: Visit) -> Reply:
    """Commit a change, if the version is still the one in ``If-Match`` (412 otherwise; without it, whatever it is)."""
    service, change = _service(visit), visit.read(Change)
    repository = outside.repository
    async with outside.lock:
        found = await asyncio.to_thread(repository.read, service)
        current, version = found or ({}, "")
        if not visit.planted:
            _still(visit.headers.get("if-match"), version, service)
        content = _changed(service, current, change)
        summary = _one_line(change.summary) or f"Change {service}"
        trailers = {SERVICE_TRAILER: service} | visit.marks.trailers() | ({PLANTED: "yes"} if visit.planted else {})
        new = await asyncio.to_thread(repository.write, {service: content}, summary=summary, trailers=trailers)
        outside.ledger.effect(visit, reference=new, arguments={"service": service, **visit.arguments})
    return _shown(service, content, new, status=201 if not version else 200, previous=version or None)


async def config_log(outside: Outside, visit: Visit) -> Reply:
    """Commits by ``key`` (exactly the trailer) and ``service``, newest first; the world's own seed is left out."""
    commits = await asyncio.to_thread(outside.repository.log, key=visit.query.get("key"))
    service = visit.query.get("service")
    kept = [commit for commit in commits if not commit.seeded and service in (None, commit.service)]
    return Reply(200, {"commits": [commit_shown(commit) for commit in visit.seen(kept)], "complete": True})


def commit_shown(commit: Commit) -> dict[str, Any]:
    """A commit as the API shows it."""
    trailers = commit.trailers
    marks = {name: trailers.get(name) for name in ("key", "call", "business_key")}
    plain = asdict(commit)
    del plain["trailers"]
    return plain | marks | {"planted": "planted" in trailers, "seeded": commit.seeded}


def _service(visit: Visit) -> str:
    service = visit.parameters["service"]
    if not SERVICE.fullmatch(service) or service == "log":
        raise Refused(400, "invalid", "A service is named with a-z, 0-9 and -.")
    return service


def _still(wanted: str | None, version: str, service: str) -> None:
    if wanted is None or (wanted.strip() == "*" and version):
        return
    if wanted.strip().removeprefix("W/").strip('"') != version:
        detail = f"{service} is at {version or 'no version'}, not at {wanted}."
        raise Refused(412, "changed_since", detail, {"version": version or None})


def _changed(service: str, current: dict[str, Any], change: Change) -> dict[str, Any]:
    if (change.values is None) == (change.set is None):
        raise Refused(400, "invalid", "Give either values (everything) or set (single settings).")
    if change.values is not None:
        return change.values
    content = copy.deepcopy(current)
    for name, value in (change.set or {}).items():
        _put(service, content, name, value)
    return content


def _put(service: str, content: dict[str, Any], name: str, value: Any) -> None:
    *groups, leaf = name.split(".")
    place: Any = content
    for group in groups:
        place = place.get(group) if isinstance(place, dict) else None
    if not isinstance(place, dict) or leaf not in place:
        raise Refused(422, "unknown_setting", f"{service} has no setting {name}.")
    place[leaf] = value


def _one_line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _shown(service: str, values: Any, version: str, *, status: int = 200, previous: str | None = None) -> Reply:
    body = {"service": service, "version": version, "values": values}
    changed = {"previous": previous} if previous else {}
    return Reply(status, body | changed, {"ETag": f'"{version}"'})


OPERATIONS = [
    Operation(SYSTEM, "services", "GET", "/config", config_services, acts=False),
    Operation(SYSTEM, "lookup", "GET", "/config/log", config_log, acts=False),
    Operation(SYSTEM, "read", "GET", "/config/{service}", config_read, acts=False),
    Operation(SYSTEM, "change", "POST", "/config/{service}", config_change),
]
