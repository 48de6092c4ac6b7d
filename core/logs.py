"""What is logged, with the ids of the task, the call and the trace it is about; as lines of JSON where asked for.

``HANDRAIL_LOGS=json`` turns every line of our processes into one object: ours, Django's, Celery's, uvicorn's, and what
agents and tools log themselves. Otherwise lines stay as people read them.
"""

import logging
import sys
from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, TextIO, cast
from uuid import UUID

import structlog

from core.tracing import trace_id

_SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.access")
_mask: list[Callable[[str], str]] = []  # at most one


def about(task: UUID, **more: Any) -> AbstractContextManager[None]:
    """Put the task's id, and ``more``, on every line that is logged in the block, by whomever."""
    return structlog.contextvars.bound_contextvars(task_id=str(task), **more)


def logs_mask(mask: Callable[[str], str]) -> None:
    """Let ``mask`` change all that this process logs or prints from now on, by whomever."""
    _mask[:] = [mask]
    for name in ("stdout", "stderr"):
        if not isinstance(getattr(sys, name), _Masked):
            setattr(sys, name, _Masked(getattr(sys, name)))
    for logger in [logging.getLogger(), *map(logging.getLogger, logging.root.manager.loggerDict)]:
        for handler in logger.handlers:
            if not isinstance(handler.formatter, _MaskedLines):
                handler.setFormatter(_MaskedLines(handler.formatter or logging.Formatter()))


def _masked(text: str) -> str:
    return _mask[0](text) if _mask else text


class _Masked:
    """A stream that masks what is written to it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        return self._stream.write(_masked(text))


class _MaskedLines(logging.Formatter):
    """A formatter that masks what another one makes, tracebacks among it."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return _masked(self._inner.format(record))


def logs_begin(*, as_json: bool) -> None:
    """Set up the lines of this process."""
    if not as_json:
        structlog.configure(processors=[_trace, *structlog.get_config()["processors"]])
        return
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _trace,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, _rendered()],
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Masked(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    _stdlib(shared)


def _rendered() -> Any:
    return structlog.processors.JSONRenderer(default=str, ensure_ascii=False)


def _stdlib(shared: list[Any]) -> None:
    """Let what uses Python's own logging come out in the same form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _rendered(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler, *(one for one in root.handlers if type(one) is not logging.StreamHandler)]
    root.setLevel(logging.INFO)
    for name in ("django", "django.server", "django.request", *_SERVERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
    logging.getLogger("httpx").setLevel(logging.WARNING)


def _trace(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if found := trace_id():
        event["trace_id"] = found
    return event
