"""Request keys: the same key and body is the same request, however often and however parallel it is sent."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from core.errors import Conflict
from core.models import Workspace
from core.problem import constraint_of
from tasks_app.models import RequestKey
from tasks_app.services.intake import KEY_LIMIT, field_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One keyed request: whose key (workspace and actor), the key, the digest of what was asked for."""

    principal: str
    key: str
    body_digest: str


class RequestKeyReused(Conflict):
    """This request key was used for another request; nothing was changed."""

    code = "request-key-reused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the request led to: a stream and, where it led to one event, its sequence. ``first``: by this sending."""

    stream: UUID
    seq: int = 0
    first: bool = True


def request_of(*, workspace: Workspace, actor: str, key: str, body: Any) -> Request:
    """Return the keyed request. Raises InvalidInput for a key that cannot be kept."""
    if not key.strip() or len(key) > KEY_LIMIT or not key.isprintable():
        raise field_error("request_key", f"must be 1 to {KEY_LIMIT} printable characters.")
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return Request(principal=f"{workspace.slug}/{actor}", key=key, body_digest=digest)


def request_once(request: Request | None, work: Callable[[], Answer]) -> Answer:
    """Run ``work`` in one transaction with its request key; a repeated request gets the first answer (B01, W01).

    Of two at once one waits at the unique constraint until the other has committed, and then reads its answer.
    Raises RequestKeyReused where the key stands for another body.
    """
    if request is None:
        with transaction.atomic():
            return work()
    earlier = _earlier(request)
    if earlier is not None:
        return earlier
    try:
        with transaction.atomic():
            return _first(request, work())
    except IntegrityError as error:
        earlier = _earlier(request) if constraint_of(error) == "request_key_once" else None
        if earlier is None:
            raise
        return earlier


def _first(request: Request, answer: Answer) -> Answer:
    RequestKey.objects.create(
        principal=request.principal,
        key=request.key,
        body_digest=request.body_digest,
        stream=answer.stream,
        seq=answer.seq,
    )
    return answer


def _earlier(request: Request) -> Answer | None:
    found = RequestKey.objects.filter(principal=request.principal, key=request.key).first()
    if found is None:
        return None
    if found.body_digest != request.body_digest:
        raise RequestKeyReused(
            f"The request key {request.key!r} was used for another request; nothing was changed."
            " Repeat that request unaltered, or send this one under a new key.",
            task=str(found.stream),
        )
    return replace(Answer(stream=found.stream, seq=found.seq), first=False)
