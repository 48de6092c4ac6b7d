"""Every address of the web process."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from core.api import api
from core.board.views.overview import overview_page
from core.metrics_page import metrics
from core.second_factor import addresses as second_factor
from core.sign_in import SignIn, SignOut, console_sign_in, sign_in_once
from core.single_sign_on import addresses as single_sign_on
from core.style_page import style_page
from core.theme import theme_set

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview_page, name="home"),
    path("", include("core.board.urls")),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-in/once/<str:token>/", sign_in_once, name="sign-in-once"),
    path("sign-out/", SignOut.as_view(), name="sign-out"),
    *second_factor,
    *single_sign_on(),
    path("metrics", metrics, name="metrics"),
    path("theme/", theme_set, name="theme"),
    path("api/v1/", api.urls),
    path("tasks/", include("tasks_app.urls")),
    path("approvals/", include("approvals_app.urls")),
    path("alerts/", include("approvals_app.notify.urls")),
    path("drills/", include("chaos_app.urls")),
    path("admin/login/", console_sign_in),
    path("admin/", admin.site.urls),
]
if settings.HANDRAIL_STYLE_PAGE:
    urlpatterns.append(path("style/", style_page, name="style"))

handler400 = "core.error_pages.bad_request"
handler403 = "core.error_pages.forbidden"
handler404 = "core.error_pages.not_found"
handler500 = "core.error_pages.server_error"
