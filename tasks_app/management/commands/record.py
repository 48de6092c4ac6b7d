"""``manage.py record verify|export|rebuild|purge``: records checked, taken out, replayed, and removed after export."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError

from core import database
from core.errors import HandrailError
from core.models import Workspace
from tasks_app.models import Task
from tasks_app.record.export import export_lines, stream_head
from tasks_app.record.purge import tasks_purge
from tasks_app.record.rebuild import task_differences
from tasks_app.record.verify import strays, stream_verify, streams

NOT_ALLOWED = "42501"  # SQLSTATE insufficient_privilege


class Command(BaseCommand):
    """Exit code 0: nothing is wrong; 1: one sentence for each thing that is."""

    help = "Check records, export one, replay them against the rows, or remove old ones after export."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the four verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        check = verbs.add_parser("verify", help="check chain, heads and blobs of one record, or of all")
        check.add_argument("task", nargs="?", type=UUID, help="a task, or a workspace for its administration stream")
        export = verbs.add_parser("export", help="write one record as a file that verifier.py checks by itself")
        export.add_argument("task", type=UUID)
        export.add_argument("file", type=Path)
        rebuild = verbs.add_parser("rebuild", help="replay events and compare the result with the rows")
        rebuild.add_argument("--check", action="store_true", required=True, help="compare only; nothing is changed")
        rebuild.add_argument("task", nargs="?", type=UUID)
        purge = verbs.add_parser("purge", help="export and remove tasks that ended long ago (as the tables' owner)")
        purge.add_argument("--older-than", type=float, metavar="DAYS", help="instead of what each workspace says")
        purge.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where the exports go")
        purge.add_argument("--workspace", help="only this one (its short name)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the verb."""
        try:
            getattr(self, options["verb"])(options)
        except HandrailError as error:
            raise CommandError(error.detail) from error
        except ProgrammingError as error:
            if getattr(error.__cause__, "sqlstate", None) != NOT_ALLOWED:
                raise
            raise CommandError(
                f"The database refused this to the role ({str(error).splitlines()[0]}); nothing was removed. "
                "Removing records is for the owner of the tables: set DATABASE_OWNER_URL."
            ) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error

    def verify(self, options: dict[str, Any]) -> None:
        """Check one stream or all."""
        found, count, late = [], 0, 0
        for stream in [options["task"]] if options["task"] else streams():
            one = stream_verify(stream)
            count, late = count + 1, late + one.late
            found += [f"{one.kind} {stream}: {sentence}" for sentence in one.problems]
            self._say(f"{one.kind} {stream}: {sentence}" for sentence in one.problems)
        if not options["task"]:
            stray = strays()
            self._say(stray)
            found += stray
        if found:
            raise SystemExit(1)
        kept = f" {late} late writes of fenced-off workers are kept beside them." if late else ""
        self.stdout.write(f"{count} {'record is' if count == 1 else 'records are'} whole.{kept}")

    def export(self, options: dict[str, Any]) -> None:
        """Write one record."""
        head = stream_head(options["task"])
        with options["file"].open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(export_lines(head))
        self.stdout.write(f"{head.seq} events written to {options['file']}. Their last digest is {head.digest.hex()}.")

    def rebuild(self, options: dict[str, Any]) -> None:
        """Replay one task or all."""
        wrong, count = 0, 0
        tasks: Iterable[UUID] = [options["task"]] if options["task"] else Task.objects.values_list("pk", flat=True)
        for task in tasks if options["task"] else tasks.order_by("pk").iterator():  # type: ignore[attr-defined]
            differences = task_differences(task)
            self._say(f"task {task}: {sentence}" for sentence in differences)
            wrong, count = wrong + len(differences), count + 1
        if wrong:
            raise SystemExit(1)
        self.stdout.write(f"The rows of {count} {'task' if count == 1 else 'tasks'} are what the events say.")

    def purge(self, options: dict[str, Any]) -> None:
        """Export and remove old tasks."""
        count = 0
        with database.as_owner("default"):
            place = self._workspace(options["workspace"])
            age = None if options["older_than"] is None else timedelta(days=options["older_than"])
            for one in tasks_purge(older_than=age, folder=options["to"], actor="system", workspace=place):
                self.stdout.write(f"task {one.task}: {one.last_seq} events, now in {one.file}")
                count += 1
        self.stdout.write(f"{count} {'task was' if count == 1 else 'tasks were'} removed.")

    def _workspace(self, slug: str | None) -> Workspace | None:
        if slug is None:
            return None
        found = Workspace.objects.filter(slug=slug).first()
        if found is None:
            raise CommandError(f"There is no workspace {slug!r}; nothing was removed.")
        return found

    def _say(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.stdout.write(sentence)
