"""The reader's choice of colours, kept in a cookie."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from core.pages import THEME_COOKIE, THEMES

_YEAR = 31_536_000


@require_POST
def theme_set(request: HttpRequest) -> HttpResponse:
    """Store the theme and go back to where the reader was."""
    chosen, back = request.POST.get("theme", ""), request.POST.get("next", "/")
    here = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(back if here else "/")
    if chosen in THEMES:
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=_YEAR, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
        )
    return response
