"""Signing in and out: by name and password, or once by a link made on this machine."""

from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from core import one_time
from core.loopback import is_from_this_machine

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignIn(LoginView):
    """Name and password; a session that existed before gets a new key."""

    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

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


def _refuse(request: HttpRequest, why: str, *, status: int) -> HttpResponse:
    return render(request, "registration/once_refused.html", {"why": why}, status=status)
