"""The same slices, in a worker that looks after its children so seldom that a test is over before."""

from celery import signals

from tests.slices import app

__all__ = ["app"]


@signals.celeryd_after_setup.connect
def seldom(**_: object) -> None:
    from tasks_app.keeper import bootstep  # it needs models, which are there by now

    bootstep.EVERY = 600.0
