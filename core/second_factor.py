"""The second factor: set up by each person, shown again where a rule of policy wants it fresh (step-up)."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from allauth.account.views import reauthenticate
from allauth.mfa.models import Authenticator
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, include, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

KINDS = {Authenticator.Type.WEBAUTHN: "mfa_reauthenticate_webauthn", Authenticator.Type.TOTP: "mfa_reauthenticate"}


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]  # untyped
    """Nobody signs up by themselves, and who has nothing to show again is asked for nothing."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Administrators make accounts."""
        return False

    def is_reauthentication_required(self, *args: Any, **kwargs: Any) -> bool:
        """Ask again before factors change, except of who has neither password nor factor (a one-time link)."""
        user = self.request.user
        return isinstance(user, User) and bool(get_reauthentication_flows(user))


@never_cache
@login_required
@require_safe
def step_up(request: HttpRequest) -> HttpResponse:
    """Lead to where the second factor is shown, or set up where there is none; then back to ``next``."""
    following = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()}):
        following = reverse("home")
    held = set(Authenticator.objects.filter(user=request.user).values_list("type", flat=True))
    shown = next((name for kind, name in KINDS.items() if kind in held), None)
    if shown is None:
        return HttpResponseRedirect(reverse("mfa_index"))
    return HttpResponseRedirect(f"{reverse(shown)}?{urlencode({'next': following})}")


_to_sign_in: Any = RedirectView.as_view(pattern_name="sign-in")
addresses: list[URLPattern | URLResolver] = [
    path("second-factor/show/", step_up, name="step-up"),
    path("second-factor/password/", reauthenticate, name="account_reauthenticate"),
    path("second-factor/", include("allauth.mfa.urls")),
    # What the library's pages refer to and this site does otherwise.
    path("second-factor/sign-in/", _to_sign_in, name="account_login"),
    path("second-factor/sign-out/", _to_sign_in, name="account_logout"),
]
