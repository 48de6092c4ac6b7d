"""Retention: whole terminal tasks past their age are removed, after export; what stays is ``record.purged``.

The append-only trigger lets rows go only where the owner of the tables has named their stream for this one
transaction (``handrail.purge``). Rejected: switching the trigger off for the transaction, since that locks every
writer of every task out until the commit.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from core.clock import database_now
from core.errors import Conflict
from core.models import Workspace
from tasks_app.models import Blob, Event, LateWrite, RequestKey, Task
from tasks_app.record.append import append_administration
from tasks_app.record.events import RecordPurged
from tasks_app.record.export import Head, export_lines, export_name, stream_head
from tasks_app.record.verifier import verify
from tasks_app.status import TERMINAL

AT_A_TIME = 100


class NotWhole(Conflict):
    """The exported record does not pass its check; nothing was removed."""

    code = "record-not-whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """One removed task, and where its export lies."""

    task: UUID
    last_seq: int
    file: Path


def tasks_purge(
    *, older_than: timedelta | None, folder: Path, actor: str, workspace: Workspace | None = None
) -> Iterator[Purged]:
    """Export and remove every terminal task that ended longer ago than that; children go before their parents.

    None: longer ago than its workspace keeps them; one that keeps them for ever loses none.

    Must run as the owner of the tables. Raises NotWhole where a record is broken: it is evidence then, and stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    places = Workspace.objects.filter(pk=workspace.pk) if workspace else Workspace.objects.order_by("slug")
    for place in places:
        age = timedelta(days=place.keep_days) if older_than is None and place.keep_days else older_than
        while age is not None and (page := _due(place, database_now() - age)):
            for task in page:
                yield task_purge(task=task, folder=folder, actor=actor)


def _due(workspace: Workspace, before: datetime) -> list[UUID]:
    children = Task.objects.filter(parent=OuterRef("pk"))
    ended = Task.objects.filter(~Exists(children), workspace=workspace, status__in=sorted(TERMINAL))
    return list(ended.filter(ended_at__lt=before).order_by("ended_at", "pk").values_list("pk", flat=True)[:AT_A_TIME])


def task_purge(*, task: UUID, folder: Path, actor: str) -> Purged:
    """Export one terminal task, check the file, then remove the task in one transaction that records it."""
    head = stream_head(task)
    file = _export(head, folder)
    with transaction.atomic():
        row = Task.objects.select_for_update().get(pk=task)
        if row.status not in TERMINAL or row.head_seq != head.seq:
            raise Conflict("The task went on while it was exported; nothing was removed.")
        event = RecordPurged(task=str(task), last_seq=head.seq, head_digest=head.digest.hex())
        append_administration(workspace=row.workspace_id, events=[event], actor=actor)
        _remove(row)
    return Purged(task=task, last_seq=head.seq, file=file)


def _export(head: Head, folder: Path) -> Path:
    """Write the export, down to the disk, and check it as anybody would. Raises NotWhole."""
    file = folder / export_name(head)
    unfinished = file.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(export_lines(head))
        out.flush()
        os.fsync(out.fileno())
    with unfinished.open(encoding="utf-8", newline="\n") as lines:
        report = verify(lines, head=head.digest.hex())
    if not report.ok:
        raise NotWhole(
            f"The record {head.stream} is not whole and was left where it is: {report.problems[0]}"
            f" What could be exported lies in {unfinished}."
        )
    unfinished.replace(file)
    return file


def _remove(row: Task) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('handrail.purge', %s, true)", [str(row.pk)])
    for relation in Task._meta.related_objects:  # calls, approvals: whatever belongs to this task and nothing else
        if relation.related_model is not Task:
            relation.related_model._base_manager.filter(**{relation.field.name: row}).delete()
    for model in (Event, Blob, LateWrite, RequestKey):
        model.objects.filter(stream=row.pk).delete()
    row.delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('handrail.purge', '', true)")
