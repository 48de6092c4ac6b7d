"""``manage.py guided``: the controller of the first five minutes; the page starts it, and nobody else needs to."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chaos_app.drills import place


class Command(BaseCommand):
    """Becomes a drill's controller, stands up its ground, and plays one case with a person."""

    help = "Play the guided run of the page /drills/first/ (started by that page)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the name of its folder."""
        parser.add_argument("--folder", default="", help="The name of its folder among those of the drills.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until it is over; what goes wrong is the last thing that the page shows."""
        if not place.is_inside():
            os.environ["HANDRAIL_WORLD_TIMEOUT"] = "120"  # seconds: a person looks on while the bank's answer is held
            place.enter(modules="chaos_app.incidents", name=options["folder"])
        from chaos_app.drills.with_stack import end_with_stack
        from chaos_app.guided.ground import guided_ground
        from chaos_app.guided.state import state_end, state_write
        from chaos_app.guided.story import Ended, Guide

        folder: Path = settings.VAR_DIR
        folder.mkdir(parents=True, exist_ok=True)
        state_write(folder, {"stage": "starting"})
        end_with_stack()
        with place.tidied(folder):
            guide = None
            try:
                with guided_ground(folder, say=self.stdout.write) as ground:
                    guide = Guide(ground, folder)
                    guide.run()
            except Ended:
                state_end(folder, "over" if guide and guide.stage == "over" else "failed")
            except Exception as error:
                state_end(folder, "failed", problem=f"{type(error).__name__}: {error}")
                raise
