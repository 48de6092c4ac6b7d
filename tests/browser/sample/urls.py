"""The product's addresses and one sample page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from core.errors import Conflict
from core.urls import handler400, handler403, handler404, handler500  # noqa: F401 - Django reads them here
from core.urls import urlpatterns as product


@login_required
def sample(request: HttpRequest) -> HttpResponse:
    return render(request, "sample.html", {"cursor": None if "many" in request.GET else 5, "seqs": range(1, 6)})


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("boom")


def conflicting(request: HttpRequest) -> HttpResponse:
    raise Conflict("Maria denied it at 12:03:22.")


urlpatterns = [*product, path("sample/", sample), path("broken/", broken), path("conflict/", conflicting)]
