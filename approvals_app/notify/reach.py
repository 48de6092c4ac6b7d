"""What a channel may reach. An address that somebody types must not turn this server against its own network.

Names are resolved and every address is compared, at editing and again at each sending; a webhook's connection then
goes to the very address that was compared, so that a name cannot change in between.
"""

import socket
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

import httpx
from django.conf import settings

if TYPE_CHECKING:
    from apprise.plugins import NotifyBase

__all__ = ["NotReachable", "Pinned", "address_pinned", "service_of"]

# Carries an IPv4 address in itself, which no property of the address says.
TRANSLATED = ip_network("64:ff9b::/96")
BY_MAIL = ("mailto", "mailtos", "deltachat", "deltachats")
# One keeps its keys and receivers in files of this server, one connects to relays that its address lists.
BEYOND = ("vapid", "nostr")


class NotReachable(Exception):
    """This address may not be used; the text says why, without quoting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A webhook's address with its name already resolved."""

    url: httpx.URL
    host: str
    host_header: str


def address_pinned(address: str) -> Pinned:
    """Return where a webhook's connection may go. Raises NotReachable."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        raise NotReachable("This is no web address.") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise NotReachable("A webhook's address begins with https:// and names a host.")
    if url.scheme == "http" and not settings.HANDRAIL_NOTIFY_PRIVATE:
        raise NotReachable("Use https://: over http:// anybody in between reads and changes what is sent.")
    if url.userinfo:
        raise NotReachable("Leave user name and password out: a webhook is signed with its secret.")
    found = addresses_of(url.host, url.port or (443 if url.scheme == "https" else 80))
    return Pinned(url=url.copy_with(host=found[0]), host=url.host, host_header=url.netloc.decode("ascii"))


def service_of(address: str) -> "NotifyBase":
    """Return the chat or paging service of an Apprise address. Raises NotReachable."""
    service: NotifyBase | None = _apprise().Apprise.instantiate(address, asset=_asset())
    if service is None:
        raise NotReachable("Apprise knows no service of that form; see its list of addresses.")
    templates: tuple[str, ...] = service.templates
    rests = [template.partition("://")[2] for template in templates]
    if not all(rests):
        raise NotReachable("This service works on the server's own desktop or log, not outside.")
    kind = address.partition(":")[0].lower()
    if kind in BY_MAIL:
        raise NotReachable("Make a channel of e-mail for this.")
    if kind in BEYOND:
        raise NotReachable("This service uses files of this server, or connects to more than the host of its address.")
    if _read_along(service):
        raise NotReachable("Leave out what is read from a file or another address, such as template= or keyfile=.")
    # Some take a host in the place of a name of theirs; a key that stands there has no dot, and is told to nobody.
    if service.host and (any("{host}" in rest for rest in rests) or "." in service.host):
        addresses_of(service.host, service.port or 443)
    return service


def _read_along(service: "NotifyBase") -> bool:
    """Tell whether a service would read something else at sending: Apprise takes a file or any address for it."""
    from apprise.apprise_attachment import AppriseAttachment
    from apprise.attachment.base import AttachBase

    held = vars(service).items()
    return any(
        (isinstance(value, AppriseAttachment) and len(value) > 0)
        or isinstance(value, AttachBase)
        or (name == "keyfile" and bool(value))
        for name, value in held
    )


def _apprise() -> Any:
    import apprise  # takes longer to load than all the rest; most processes never need it

    return apprise


@cache
def _asset() -> Any:
    return _apprise().AppriseAsset(
        app_id="Handrail", app_desc="Handrail", async_mode=False, secure_logging=True, http_redirects=False
    )


def addresses_of(host: str, port: int) -> list[str]:
    """Resolve a name. Raises NotReachable unless every address of it is a public one, or private ones are allowed."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotReachable("The name of the host cannot be resolved.") from None
    addresses = [str(one[4][0]).partition("%")[0] for one in found]
    if not settings.HANDRAIL_NOTIFY_PRIVATE and not all(_public(ip_address(one)) for one in addresses):
        raise NotReachable(
            "This address leads to a private, loopback or otherwise special network. HANDRAIL_NOTIFY_PRIVATE=1 allows"
            " that for the whole installation."
        )
    return addresses


def _public(address: IPv4Address | IPv6Address) -> bool:
    inside = getattr(address, "ipv4_mapped", None) or address
    special = inside.is_multicast or inside.is_reserved or inside.is_unspecified
    return inside.is_global and not special and inside not in TRANSLATED
