"""Drills over HTTP: the same rights and limits as the pages have."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from chaos_app.api_schemas import (
    CaseOut,
    LaunchIn,
    PreviewOut,
    RunOut,
    RunRow,
    case_out,
    run_out,
    run_row,
)
from chaos_app.reports import report_file
from chaos_app.selectors.runs import cases_counted, run_get, runs_latest
from chaos_app.services.launch import drill_launch, drill_stop, drills_refused, launch_checked, preview
from core.access import Right
from core.principal import caller

router = Router()


@router.get("", response=list[RunRow])
def listing(request: HttpRequest) -> Any:
    """List the newest 30 runs."""
    who = caller(request, Right.TASKS_READ)
    return [run_row(run) for run in runs_latest(workspace=who.workspace)]


@router.post("", response={201: RunRow})
def launch(request: HttpRequest, body: LaunchIn) -> Any:
    """Launch a drill, in processes of its own; 403 where none may start here, 409 where as many run as may."""
    who = caller(request, Right.DRILLS_RUN)
    run = drill_launch(
        workspace=who.workspace,
        user=who.user,
        actor=who.actor,
        suite=body.suite,
        selection=body.selection(),
        seed=body.seed,
    )
    return Status(201, run_row(run))


@router.get("/preview", response=PreviewOut)
def previewed(request: HttpRequest, body: Query[LaunchIn]) -> Any:
    """Say what a launch would run, and start nothing; 422 for what could not be launched."""
    who = caller(request, Right.TASKS_READ)
    chosen = launch_checked(body.suite, body.selection())
    cells = [] if chosen.get("target") else preview(suite=body.suite, selection=chosen)
    return {"suite": body.suite, "cells": cells, "refused": drills_refused(workspace=who.workspace)}


@router.get("/{uuid:run}", response=RunOut)
def one(request: HttpRequest, run: UUID) -> Any:
    """Return one run, under way or over."""
    who = caller(request, Right.TASKS_READ)
    row = run_get(workspace=who.workspace, run=run)
    return run_out(row, len(cases_counted(row)))


@router.get("/{uuid:run}/cases", response=list[CaseOut])
def cases(request: HttpRequest, run: UUID) -> Any:
    """Return the cases of a run that are judged, each with its sentence of cause."""
    who = caller(request, Right.TASKS_READ)
    return [case_out(case) for case in cases_counted(run_get(workspace=who.workspace, run=run))]


@router.post("/{uuid:run}/stop", response=RunOut)
def stop(request: HttpRequest, run: UUID) -> Any:
    """Ask a run to stop and to clean up; asking again changes nothing."""
    who = caller(request, Right.DRILLS_RUN)
    row = drill_stop(workspace=who.workspace, run=run, user=who.user)
    return run_out(row, len(cases_counted(row)))


@router.get("/{uuid:run}/report/{form}", response={200: bytes})
def report(request: HttpRequest, run: UUID, form: str) -> HttpResponse:
    """Download the report of a run: json, junit or html; 409 where some of its evidence is of another version."""
    who = caller(request, Right.TASKS_READ)
    return report_file(run_get(workspace=who.workspace, run=run), form)
