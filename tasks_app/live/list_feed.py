"""What is new on a list of tasks: its visible rows as they are now, and how many newcomers there are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.template.loader import render_to_string

from core.access import Right
from core.principal import Principal
from tasks_app.filter_query import filter_query, filter_read
from tasks_app.live.message import Reading
from tasks_app.live.parts import Part, PartsFeed
from tasks_app.models import Task
from tasks_app.selectors.task_rows import ROWS, newcomers_count, rows_again, status_counts
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.views.counts import count_links, list_url

COUNTS_EVERY = 2.0  # seconds: counting reads every task of the workspace
_WHOLE = "whole"  # the page shows all that fit


def query_of(principal: Principal, filters: TaskFilter, rows: list[Task], *, first: bool, end: UUID | None) -> str:
    """Return what a page's socket must know: workspace, filter, the rows that are visible.

    ``first``: the page shows the newest rows, so newcomers are counted; ``end``: down to here, where more rows follow.
    """
    kept = filter_query(filters)
    shown = {"workspace": principal.workspace.slug, "rows": ".".join(row.pk.hex for row in rows)}
    return urlencode(kept | shown | ({"end": end.hex if end else _WHOLE} if first else {}))


@dataclass(slots=True, kw_only=True)
class ListFeed(PartsFeed[Principal]):
    """Follows the rows of one page for one reader; there is no cursor, since ids commit out of order."""

    filters: TaskFilter
    ids: list[UUID]
    first: bool
    end: UUID | None
    _counted_at: float = -inf
    _uncounted: bool = False

    @classmethod
    def of(cls, query: str, who: Callable[[], Principal]) -> "ListFeed":
        """Return the feed for the query that ``query_of`` made. Raises ValueError for another."""
        given = {name: values[0] for name, values in parse_qs(query).items()}
        ids = [UUID(hex=one) for one in given.get("rows", "").split(".") if one][:ROWS]
        filters, _ = filter_read(given)
        end = given.get("end", _WHOLE)
        first, until = "end" in given, None if end == _WHOLE else UUID(hex=end)
        return cls(who=who, filters=filters, ids=ids, first=first, end=until)

    @staticmethod
    def workspace_of(query: str) -> str:
        """Return the slug of the workspace that a query names."""
        return parse_qs(query).get("workspace", [""])[0]

    def forget(self) -> None:
        """The page resumes: send everything once, the counts as well."""
        super(ListFeed, self).forget()
        self._counted_at = -inf

    def read(self, after: int = 0) -> Reading:
        """Return the rows that changed; counts that were left out follow as soon as they may be read."""
        reading = super(ListFeed, self).read(after)
        left = self._counted_at + COUNTS_EVERY - monotonic()
        return replace(reading, again=max(0.0, left)) if self._uncounted else reading

    def fragments(self, principal: Principal) -> Iterator[Part]:
        """See PartsFeed."""
        for row in rows_again(workspace=principal.workspace, ids=self.ids):
            # The words of a time change by themselves: a row has changed when its task has.
            state = f"{row.head_seq} {row.status} {row.wait} {row.wake_at}"
            if self._sent.changed([(f"state-{row.pk}", state)]):
                shown = {"row": row, "oob": True, "may_operate": principal.may(Right.TASKS_OPERATE)}
                yield str(row.pk), render_to_string("tasks/_row.html", shown)
        self._uncounted = monotonic() - self._counted_at < COUNTS_EVERY
        if not self._uncounted:
            self._counted_at = monotonic()
            yield from self._counts(principal)

    def _counts(self, principal: Principal) -> Iterator[Part]:
        kept, workspace = self._kept(principal), principal.workspace
        if self.first:
            count = newcomers_count(workspace=workspace, filters=self.filters, rows=self.ids, end=self.end)
            context = {"count": count, "url": list_url(kept), "oob": True}
            yield "new", render_to_string("partials/newcomers.html", context)
        links = count_links(status_counts(workspace=workspace), self.filters, kept)
        yield "counts", render_to_string("tasks/_counts.html", {"counts": links, "oob": True})

    def _kept(self, principal: Principal) -> dict[str, str]:
        return filter_query(self.filters) | principal.kept
