"""Runs tries in sandboxes of an ordinary user's worker: ``python -m tests.sandbox_ordinary`` prints them as JSON.

Where it is started as root, it goes into a namespace in which root has an ordinary number.
"""

import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

from tasks_app.sandbox.bubblewrap import program

NUMBER = "1000"


def main() -> None:
    """Try each, with a network and without."""
    if os.geteuid() == 0:
        bwrap = program()
        assert bwrap is not None
        walls = ["--die-with-parent", "--unshare-user", "--uid", NUMBER, "--gid", NUMBER, "--dev-bind", "/", "/"]
        os.execv(bwrap, [bwrap, *walls, sys.executable, "-m", __name__ if __spec__ is None else __spec__.name])
    import django

    django.setup()
    from tests.sandbox_tools import box_keyed

    networked = replace(box_keyed, network=("nowhere.invalid:443",))
    said = {}
    for name, contract in (("alone", box_keyed), ("network", networked)):
        for what in ("system_calls", "privileges", "descriptors", "write_outside", "inodes"):
            said[f"{name} {what}"] = tried(contract, what)
    said["reach"] = tried(networked, "reach_and_hear", word="nowhere.invalid:443")
    print(json.dumps(said))


def tried(contract: Any, what: str, word: str = "/") -> Any:
    """Return what it answers, or its error."""
    from tasks_app.fakes import context_of
    from tasks_app.runtime.acting import call_act
    from tests.sandbox_tools import SMALL
    from tests.sandbox_tries.trying import Try

    context = context_of(key="k", seconds=20.0)
    until = time.monotonic() + 5
    arguments = Try(what=what, word=word, number=SMALL.files + 100)
    outcome = call_act(contract, arguments, context, epoch_holds=lambda: True, send_by=until)
    return outcome.result if outcome.outcome == "ok" else outcome.error


if __name__ == "__main__":
    main()
