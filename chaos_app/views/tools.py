"""Tools: the effect class that each declares beside the class that it showed when it was tried."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chaos_app.models import ToolProof
from chaos_app.views.who import reader


@never_cache
@login_required
@require_safe
def tools_page(request: HttpRequest) -> HttpResponse:
    """Show the newest proof of each tool."""
    proofs = ToolProof.objects.order_by("tool", "-version")
    return render(request, "drills/tools.html", {"proofs": proofs, "principal": reader(request)})
