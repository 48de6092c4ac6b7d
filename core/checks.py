"""System checks: what in the settings is unsafe or cannot work. Errors stop every command, warnings do not."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.http.request import validate_host

from core.database import two_roles

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
SHORTEST_KEY = 32  # characters
SHORTEST_LEASE, LONGEST_LEASE = 2.0, 60.0  # seconds

Apps = Sequence[AppConfig] | None


def public_host() -> str:
    """Return the host of PUBLIC_URL ("" if it has none)."""
    return urlsplit(settings.PUBLIC_URL).hostname or ""


@register(Tags.security)
def debug_stays_at_home(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """With DEBUG an error page shows settings and source to whoever asks."""
    if not settings.DEBUG or public_host() in LOOPBACK:
        return []
    return [
        Error(
            f"DEBUG is on and PUBLIC_URL ({settings.PUBLIC_URL}) is not this machine: every error would show the "
            "program and its settings to others.",
            hint="Unset DEBUG, or set PUBLIC_URL to http://localhost:8000.",
            id="core.E001",
        )
    ]


@register(Tags.security)
def secret_key_is_a_secret(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """Sessions and one-time links are signed with it."""
    if len(settings.SECRET_KEY) >= SHORTEST_KEY:
        return []
    return [
        Error(
            f"SECRET_KEY has fewer than {SHORTEST_KEY} characters: sessions and sign-in links could be forged.",
            hint="Unset it to use this folder's own, or set it to the output of "
            "`python -c 'import secrets; print(secrets.token_urlsafe(48))'`.",
            id="core.E002",
        )
    ]


@register(Tags.security)
def hosts_are_named(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """A wildcard lets a forged Host header into links; a missing name refuses everybody."""
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        return [
            Error(
                "ALLOWED_HOSTS is *: links in mails and redirects could be made to lead elsewhere.",
                hint=f"Set ALLOWED_HOSTS to the names that people use, for example {public_host() or 'localhost'}.",
                id="core.E003",
            )
        ]
    if not public_host() or not settings.PUBLIC_URL.startswith(("http://", "https://")):
        return [
            Error(
                f"PUBLIC_URL ({settings.PUBLIC_URL!r}) is not an address with http:// or https:// and a host.",
                hint="Set it to the address that people open, for example https://handrail.example.org.",
                id="core.E004",
            )
        ]
    if validate_host(public_host(), settings.ALLOWED_HOSTS) or (settings.DEBUG and not settings.ALLOWED_HOSTS):
        return []
    return [
        Error(
            f"ALLOWED_HOSTS does not hold {public_host()}, the host of PUBLIC_URL: every page would be refused.",
            hint=f"Add {public_host()} to ALLOWED_HOSTS.",
            id="core.E005",
        )
    ]


@register(Tags.security)
def passwords_travel_under_cover(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """Over plain HTTP whoever is on the way reads the session and decides approvals in its name."""
    if settings.USES_TLS or public_host() in LOOPBACK or not public_host():
        return []
    return [
        Error(
            f"PUBLIC_URL ({settings.PUBLIC_URL}) is plain HTTP and not this machine: sessions could be overheard.",
            hint="Put a proxy with TLS before the web process, set PUBLIC_URL to its https address and BEHIND_PROXY=1.",
            id="core.E006",
        )
    ]


@register(Tags.security)
def proxy_is_declared(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """The web process speaks plain HTTP: without the proxy's word it would redirect for ever."""
    if not settings.SECURE_SSL_REDIRECT or settings.SECURE_PROXY_SSL_HEADER:
        return []
    return [
        Warning(
            "PUBLIC_URL is https, and BEHIND_PROXY is not set: a request that the proxy passes on looks like plain "
            "HTTP and is redirected for ever.",
            hint="Set BEHIND_PROXY=1 if your proxy sets X-Forwarded-Proto itself, or SECURE_SSL_REDIRECT=0.",
            id="core.W007",
        )
    ]


@register(Tags.security)
def provider_is_whole_and_under_cover(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """Without its secret nobody can sign in with it; over plain HTTP anybody could answer in its place."""
    issuer = settings.HANDRAIL_OIDC_ISSUER
    if not issuer:
        return []
    found: list[CheckMessage] = []
    if not (settings.HANDRAIL_OIDC_CLIENT_ID and settings.HANDRAIL_OIDC_CLIENT_SECRET):
        found.append(
            Error(
                "HANDRAIL_OIDC_ISSUER is set without HANDRAIL_OIDC_CLIENT_ID and HANDRAIL_OIDC_CLIENT_SECRET.",
                hint="Register this site at the provider, with the address of its answer "
                f"{settings.PUBLIC_URL.rstrip('/')}/sign-in/with/oidc/login/callback/, and set both.",
                id="core.E012",
            )
        )
    address = urlsplit(issuer)
    if address.scheme != "https" and address.hostname not in LOOPBACK:
        found.append(
            Error(
                f"HANDRAIL_OIDC_ISSUER ({issuer}) is not an https address: its answers could be forged on the way.",
                hint="Set it to the provider's issuer, for example https://login.example.org.",
                id="core.E013",
            )
        )
    return found


@register()
def lease_is_longer_than_its_renewal(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """The keeper renews each second (leases.md): one late renewal must not cost the lease."""
    if settings.LEASE_SECONDS < SHORTEST_LEASE:
        return [
            Error(
                f"HANDRAIL_LEASE_SECONDS is {settings.LEASE_SECONDS:g}: leases are renewed each second, so a healthy "
                "worker would lose its task at the first delay.",
                hint=f"Set it to {SHORTEST_LEASE:g} or more; 4 is the default.",
                id="core.E008",
            )
        ]
    if settings.LEASE_SECONDS > LONGEST_LEASE:
        return [
            Warning(
                f"HANDRAIL_LEASE_SECONDS is {settings.LEASE_SECONDS:g}: after a lost machine a task waits that long.",
                hint="4 is the default.",
                id="core.W009",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def record_rests_on_two_locks(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """A role that owns the tables may switch their trigger off."""
    if two_roles():
        return []
    return [
        Warning(
            "The application's role owns its tables: append-only rests on the trigger alone.",
            hint="Let another role own them: set DATABASE_OWNER_URL, which only `manage.py migrate` uses.",
            id="core.W010",
        )
    ]


@register(Tags.security, deploy=True)
def secret_key_is_shared(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """Each machine would make a key of its own, and refuse the sessions of the others."""
    if settings.SECRET_KEY_IS_GIVEN:
        return []
    return [
        Warning(
            "SECRET_KEY is not set, so this folder's own is used: a web process elsewhere would refuse its sessions.",
            hint="Set SECRET_KEY to the same secret for every process.",
            id="core.W011",
        )
    ]


@register(Tags.security, deploy=True)
def credential_keys_are_shared(app_configs: Apps, **kwargs: Any) -> list[CheckMessage]:
    """Each machine would make keys of its own, and open neither credentials nor second factors of the others."""
    if settings.HANDRAIL_CREDENTIAL_KEYS or settings.HANDRAIL_CREDENTIAL_KEYS_FILE:
        return []
    return [
        Warning(
            "HANDRAIL_CREDENTIAL_KEYS is not set, so this folder's own are used: a process elsewhere would open neither"
            " credentials nor second factors.",
            hint="Set it to what `manage.py credential key` prints, the same for every process.",
            id="core.W012",
        )
    ]
