"""Tools: what each promises beside what it showed, and one tool whole."""

from itertools import pairwise
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.board.tools import last_calls, sandbox_levels, schema_text, tools, version_difference, versions_of
from core.errors import NotFound
from core.pages import cells_of
from tasks_app.contracts import Wanted
from tasks_app.views.who import workspace_reader


@never_cache
@login_required
@require_safe
def tools_page(request: HttpRequest) -> HttpResponse:
    """Show all of them."""
    principal = workspace_reader(request)
    context = {
        "tools": tools(workspace=principal.workspace),
        "may_see_credentials": principal.may(Right.AUDIT_READ),
        "principal": principal,
        "workspace": principal.workspace,
    }
    return render(request, "board/tools.html", context)


@never_cache
@login_required
@require_safe
def tool_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show one: limits, schema, what changed between versions, its last calls."""
    principal = workspace_reader(request)
    tool = next((one for one in tools(workspace=principal.workspace) if one.name == name), None)
    if tool is None:
        raise NotFound
    versions = versions_of(name)
    context: dict[str, Any] = {
        "tool": tool,
        "contract": tool.contract,
        "schema": schema_text(tool.contract) if tool.contract else "",
        "differences": [(newer, older, version_difference(newer, older)) for newer, older in pairwise(versions)],
        "levels": sandbox_levels(name=name) if tool.contract and tool.contract.sandbox != Wanted.NONE else [],
        "cells": cells_of(workspace=principal.workspace, klass=tool.contract.effect_class) if tool.contract else [],
        "calls": last_calls(workspace=principal.workspace, name=name),
        "may_drill": principal.may(Right.DRILLS_RUN),
        "principal": principal,
        "workspace": principal.workspace,
    }
    return render(request, "board/tool.html", context)
