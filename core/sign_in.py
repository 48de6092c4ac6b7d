"""Signing in and out: by name and password, or once by a link made on this machine."""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME, login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from core import one_time, single_sign_on
from core.error_pages import failure_page
from core.loopback import is_from_this_machine
from core.sign_in_form import SignInForm

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignIn(LoginView):
    """Name and password; a session that existed before gets a new key."""

    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True
    authentication_form = SignInForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the way over the provider of the settings, if there is one."""
        way = single_sign_on.sign_in_address()
        following = urlencode({"next": self.get_redirect_url() or reverse("home")})
        more = {"provider": settings.HANDRAIL_OIDC_NAME, "provider_url": f"{way}?{following}" if way else ""}
        return super().get_context_data(**kwargs) | more

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Show what was wrong; 429 where there were too many tries."""
        response = super().form_invalid(form)
        if isinstance(form, SignInForm) and form.throttled:
            response.status_code = 429
            response["Retry-After"] = "300"
        return response

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, and note how: adding a second factor wants a fresh password."""
        response = super().form_valid(form)
        record_authentication(self.request, form.get_user(), method="password", reauthenticated=True)
        return response


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """Ends the session, by POST only, so that no link or picture can sign a person out."""

    http_method_names = ["post", "options"]
    next_page = "sign-in"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_once(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button for a one-time link (GET), or use the link up and sign in (POST). Works on loopback only."""
    if not is_from_this_machine(request):
        return _refuse(request, "elsewhere", status=403)
    if request.method != "POST":
        link = one_time.sign_in_link_find(token=token)
        return (
            render(request, "registration/once.html", {"link": link}) if link else _refuse(request, "spent", status=410)
        )
    user = one_time.sign_in_link_use(token=token)
    if user is None:
        return _refuse(request, "spent", status=410)
    login(request, user, backend=_BACKEND)
    return HttpResponseRedirect(reverse("home"))


@never_cache
def console_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead from the console to the one page for signing in: one place counts wrong passwords."""
    if request.user.is_authenticated:
        return failure_page(
            request, 403, happened="The console is for who administers a workspace, and you administer none."
        )
    following = request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index"))
    return HttpResponseRedirect(f"{reverse('sign-in')}?{urlencode({REDIRECT_FIELD_NAME: following})}")


def _refuse(request: HttpRequest, why: str, *, status: int) -> HttpResponse:
    return render(request, "registration/once_refused.html", {"why": why}, status=status)
