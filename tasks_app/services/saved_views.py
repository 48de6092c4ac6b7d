"""Keeping a filter of the task list under a name, and forgetting it."""

from core.errors import InvalidInput
from core.principal import Principal
from tasks_app.filter_query import filter_query
from tasks_app.models import SavedView
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.services import intake

MOST = 20  # a person, a workspace: they are one row of links above the list


def view_save(*, principal: Principal, name: str, filters: TaskFilter) -> SavedView:
    """Keep the filter; the same name again is the same view with the new filter. Raises InvalidInput."""
    name = intake.text_checked("name", name, limit=60)
    query = filter_query(filters)
    if not query:
        raise InvalidInput("There is nothing to save: no filter is set.")
    mine = SavedView.objects.filter(user=principal.user, workspace=principal.workspace)
    if mine.exclude(name=name).count() >= MOST:
        raise InvalidInput(f"At most {MOST} views are kept; forget one first.")
    view, _ = SavedView.objects.update_or_create(
        user=principal.user, workspace=principal.workspace, name=name, defaults={"query": query}
    )
    return view


def view_forget(*, principal: Principal, view: int) -> None:
    """Forget one of one's own views; one that is gone already is the same answer."""
    SavedView.objects.filter(user=principal.user, workspace=principal.workspace, pk=view).delete()


def views_of(*, principal: Principal) -> list[SavedView]:
    """List the person's views in this workspace, by name."""
    mine = SavedView.objects.filter(user=principal.user, workspace=principal.workspace)
    return list(mine.order_by("name")[:MOST])
