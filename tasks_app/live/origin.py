"""Only our own pages may open a socket: the browser sends the session's cookie for any page that asks (case-26).

The origin must be the very one that the socket is opened at (scheme, name and port), the public address, or a trusted
one of the settings. Another port of the same host is another origin: cookies do not keep ports apart, so whatever
else serves there could read as the signed-in person. No origin, and ``null``, are refused: every browser sends one
for our pages. A host that we do not serve is refused too, or a name that is re-bound to our address would be its own.
"""

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host
from django.utils.http import is_same_domain


class OwnOriginOnly:
    """ASGI wrapper around the whole websocket router; refuses before ``accept``."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on, or refuse the handshake."""
        headers = scope.get("headers", [])
        origins = [value.decode("latin1") for name, value in headers if name == b"origin"]
        hosts = [value.decode("latin1") for name, value in headers if name == b"host"]
        ours = len(origins) == len(hosts) == 1 and origin_allowed(origins[0], hosts[0], scheme=_scheme(scope))
        await (self.application if ours else WebsocketDenier.as_asgi())(scope, receive, send)


def origin_allowed(origin: str, host: str, *, scheme: str) -> bool:
    """Tell whether a page of ``origin`` may open a socket at ``host``; ``scheme`` is that of its pages."""
    try:
        given = urlsplit(origin)
        given.port  # noqa: B018 - raises ValueError for a port that is none
    except ValueError:
        return False
    if not given.scheme or not given.hostname or not validate_host(_name(host), _hosts()):
        return False
    public = urlsplit(settings.PUBLIC_URL)
    own = {f"{scheme}://{host}".lower(), f"{public.scheme}://{public.netloc}".lower()}
    return origin.lower() in own or any(_trusted(given, pattern) for pattern in settings.CSRF_TRUSTED_ORIGINS)


def _scheme(scope: Any) -> str:
    secure = scope.get("scheme") == "wss"
    if settings.SECURE_PROXY_SSL_HEADER:
        header, value = settings.SECURE_PROXY_SSL_HEADER
        wanted = header.removeprefix("HTTP_").replace("_", "-").lower().encode()
        given = [content for name, content in scope.get("headers", []) if name == wanted]
        secure = given == [value.encode()]
    return "https" if secure else "http"


def _name(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() and name else host).lower()


def _hosts() -> list[str]:
    local = [".localhost", "127.0.0.1", "[::1]"]
    return settings.ALLOWED_HOSTS or (local if settings.DEBUG else [])


def _trusted(given: Any, pattern: str) -> bool:
    wanted = urlsplit(pattern.replace("*", "", 1))
    return bool(given.scheme == wanted.scheme and is_same_domain(given.netloc, wanted.netloc))
