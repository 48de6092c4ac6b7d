"""Serves HTTP: an answer is made in one thread, from the first middleware to the last.

Left alone, Django goes to a thread and back for each of a dozen middlewares, which takes longer than many an answer.
Whoever asks to be kept waiting (``?wait=25``) is served by Django's own chain: it waits without a thread.
"""

from typing import Any

from django.core.handlers.asgi import ASGIHandler

WAIT = b"wait="


class InOneThread(ASGIHandler):
    """Django's handler, with whatever can be synchronous kept so."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain from the view outwards; where a middleware can only be async, those outside of it are too."""
        super().load_middleware(is_async=False)

    def adapt_method_mode(self, is_async: bool, method: Any, *args: Any, **kwargs: Any) -> Any:
        """Leave the outermost one async, as this handler awaits it; it alone comes without a name."""
        if args == (True,) and "name" not in kwargs:
            return method
        return super().adapt_method_mode(is_async, method, *args, **kwargs)


class Handler:
    """Django over ASGI."""

    def __init__(self) -> None:
        self._at_once, self._waiting = InOneThread(), ASGIHandler()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        handler = self._waiting if WAIT in scope["query_string"] else self._at_once
        await handler(scope, receive, send)
