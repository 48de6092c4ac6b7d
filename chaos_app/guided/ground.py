"""What the guided run stands on: a drill's ground, whose outside world knows the services of the incidents."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connections

from chaos_app.demo.reports import reports_file
from chaos_app.drills.ground import Ground

WORKERS, CONCURRENCY = 2, 1


class GuidedGround(Ground):
    """The same servers, workers and people; another world."""

    def _seed(self) -> Path:
        return reports_file()


@contextmanager
def guided_ground(folder: Path, *, say: Callable[[str], None]) -> Iterator[Ground]:
    """Stand until the block ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        sockets = Path(stack.enter_context(TemporaryDirectory(prefix="hd-")))
        ground = GuidedGround(folder, sockets, say, stack)
        stack.callback(ground.control.close)
        try:
            ground.begin(workers=WORKERS, concurrency=CONCURRENCY)
            yield ground
        finally:
            connections.close_all()
