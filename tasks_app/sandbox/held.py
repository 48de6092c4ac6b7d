"""The credentials that this one invocation was granted. Standard library only: it is imported inside sandboxes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

HERE: dict[str, str] = {}  # inside a sandbox: those of its one invocation
_held: ContextVar[Mapping[str, str]] = ContextVar("held", default={})  # noqa: B039 never changed in place


def credential(name: str) -> str:
    """Return a credential that the contract names, for look-ups and read-backs, which are given no context.

    Raises KeyError: it was not granted.
    """
    return {**HERE, **_held.get()}[name]


@contextmanager
def holding(granted: Mapping[str, str]) -> Iterator[None]:
    """Grant these to what runs in this block."""
    token = _held.set(granted)
    try:
        yield
    finally:
        _held.reset(token)
