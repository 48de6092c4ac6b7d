"""The board's addresses."""

from django.urls import path

from core.board.views.audit import audit_file, audit_page
from core.board.views.credentials import credential_take_back, credentials_page
from core.board.views.effects import effects_page
from core.board.views.overview import overview_live, overview_page
from core.board.views.search import search_page
from core.board.views.tools import tool_page, tools_page
from core.board.views.workers import worker_drain, workers_live, workers_page

urlpatterns = [
    path("", overview_page, name="overview"),
    path("live/", overview_live, name="overview-live"),
    path("effects/", effects_page, name="effects"),
    path("credentials/", credentials_page, name="credentials"),
    path("credentials/revoke/", credential_take_back, name="credential-revoke"),
    path("search/", search_page, name="search"),
    path("tools/", tools_page, name="tools"),
    path("tools/<path:name>/", tool_page, name="tool"),
    path("workers/", workers_page, name="workers"),
    path("workers/live/", workers_live, name="workers-live"),
    path("workers/drain/", worker_drain, name="worker-drain"),
    path("audit/", audit_page, name="audit"),
    path("audit/export/", audit_file, name="audit-export"),
]
