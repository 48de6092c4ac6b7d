"""The cases of a suite as a list, for people who look for an id. Pure."""

from collections.abc import Iterator

from chaos_app.drills.cells import cells
from chaos_app.drills.cells_walled import of_sandboxes

FOUND = (
    "The full suite adds the first and the last passage over every place that it finds by running; their ids are in "
    "its report. Each is run by its name: place, position, promise, fault, then what is not usual, as in "
    "E05.before.keyed.kill.hit2."
)


def listed(suite: str) -> Iterator[str]:
    """Yield a line for each case that the table alone knows: its id, and how it may end."""
    for cell in cells(suite):
        yield f"{cell.id}  {' or '.join(sorted(cell.allowed))}"
    for cell in of_sandboxes(suite):
        yield f"{cell.id}  {' or '.join(sorted(cell.allowed))}  (with --sandbox)"
    if suite == "full":
        yield FOUND
