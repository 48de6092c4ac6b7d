"""Signing in with an OpenID Connect provider, where the settings name one; accounts are made by administrators.

Somebody who comes for the first time is the account whose e-mail address the provider says is theirs and verified;
from then on it is the provider's own id that counts. Nobody else gets in, and nobody gets an account by coming.
"""

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, include, path, reverse

from core.error_pages import failure_page

PROVIDER_ID = "oidc"


class Providers(DefaultSocialAccountAdapter):  # type: ignore[misc]  # untyped
    """What happens when somebody comes back from the provider."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Administrators make accounts."""
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Let in who is known here and active."""
        if sociallogin.is_existing and sociallogin.user.is_active:
            return
        if sociallogin.is_existing:
            closed = "The account that belongs to you here is closed."
            raise ImmediateHttpResponse(failure_page(request, 403, happened=closed))
        address = next((one.email for one in sociallogin.email_addresses), "")
        said = f" ({address})" if address else ""
        raise ImmediateHttpResponse(
            failure_page(
                request,
                403,
                happened=f"You signed in at {settings.HANDRAIL_OIDC_NAME}{said}, and no account here has this e-mail "
                "address, or the provider does not say that it is verified.",
            )
        )

    def on_authentication_error(self, request: HttpRequest, provider: Any, **more: Any) -> None:
        """Say that it did not work out, and lead back; a cancelled sign-in goes back by itself."""
        if str(more.get("error", "")) == "cancelled":
            raise ImmediateHttpResponse(redirect("sign-in"))
        happened = f"{settings.HANDRAIL_OIDC_NAME} did not confirm who you are."
        raise ImmediateHttpResponse(failure_page(request, 403, happened=happened))


def sign_in_address() -> str:
    """Return where signing in with the provider begins; empty where none is set."""
    return reverse("openid_connect_login", args=[PROVIDER_ID]) if settings.HANDRAIL_OIDC_ISSUER else ""


def addresses() -> list[URLPattern | URLResolver]:
    """Return the addresses of the provider's way; none where none is set."""
    if not settings.HANDRAIL_OIDC_ISSUER:
        return []
    return [
        path("sign-in/with/", include("allauth.socialaccount.providers.openid_connect.urls")),
        path("sign-in/with/", include("allauth.socialaccount.urls")),
    ]
