"""Whether a request was made on this machine, by a browser that talks to us directly."""

from ipaddress import ip_address

from django.http import HttpRequest
from django.http.request import split_domain_port

# Any of these means that something stands between: the address we see is then not the person's.
_FORWARDED = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_SERVER",
    "HTTP_X_REAL_IP",
)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def is_from_this_machine(request: HttpRequest) -> bool:
    """Return whether client address and host name are loopback and no proxy stands between.

    The host name counts too: a foreign name that resolves to 127.0.0.1 would let another site's page ask.
    """
    host, _ = split_domain_port(request.get_host())
    return (
        _is_loopback(request.META.get("REMOTE_ADDR", ""))
        and (host == "localhost" or _is_loopback(host))
        and not any(header in request.META for header in _FORWARDED)
    )
