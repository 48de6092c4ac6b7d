"""What is wrong with what a contract says about its sandbox. Pure."""

from ipaddress import ip_address
from typing import TYPE_CHECKING

from tasks_app.sandbox.spec import ROLES, Wanted

if TYPE_CHECKING:
    from tasks_app.contracts import Contract


SECRET_WORDS = ("SECRET", "PASSWORD", "PASSWD", "TOKEN", "CREDENTIAL", "KEY", "DSN")
OURS = frozenset({"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CELERY_BROKER_URL", "EMAIL_URL"})


def sandbox_problem(contract: "Contract") -> str | None:
    """Say in one sentence why it cannot be run as it says, or None."""
    if contract.sandbox not in set(Wanted):
        return f"sandbox={contract.sandbox!r} is none of {', '.join(Wanted)}."
    if contract.sandbox == Wanted.NONE:
        if not contract.sandbox_reason.strip():
            return 'sandbox="none" needs sandbox_reason, one sentence that people read before they approve a call.'
        if contract.network:
            return 'network names what a sandbox lets through; with sandbox="none" nothing would be kept out.'
        return None
    for place in contract.network:
        host, _, port = place.rpartition(":")
        if not host or "*" in place or not port.isdigit() or not 0 < int(port) < 65536:
            return f"network names {place!r}; each place is one host and one port, like api.example.com:443."
        if _is_address(host):
            return f"network names {place!r}; name a host, so that people can read what is reached."
    for name in contract.environment:
        if not name.isidentifier() or _is_secret(name):
            return f"environment names {name!r}; it takes names of variables, and a secret belongs in credentials."
    if strange := contract.private_network - set(contract.network):
        return f"private_network names {min(strange)!r}, which network does not."
    if not _reachable(contract):
        return (
            "a sandbox loads its functions by module and name, and one of them is made inside another function;"
            ' define it at the top of its module, or say sandbox="none" and why.'
        )
    return None


def _is_secret(name: str) -> bool:
    """Whether a variable is one of ours that tools must never see, or is named like a secret."""
    return name.upper() in OURS or any(word in name.upper() for word in SECRET_WORDS)


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _reachable(contract: "Contract") -> bool:
    functions = [getattr(contract, role, None) for role in ROLES]
    return all("<locals>" not in getattr(one, "__qualname__", "<locals>") for one in functions if one is not None)
