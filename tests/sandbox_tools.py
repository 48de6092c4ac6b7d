"""Tools that try to get out of their sandbox, or end badly in it; ``what`` names what is tried."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tasks_app.contracts import Absent, Answer, CallContext, Found, Limits, LookUp, Observed
from tasks_app.decisions import Decision, call, complete
from tasks_app.registry import agent, tool
from tasks_app.sandbox.held import credential, holding
from tasks_app.view import TaskView
from tests.here import HERE
from tests.sandbox_tries import amounts, claims, ends, places, powers, secrets, views
from tests.sandbox_tries.trying import MIB, Try

SMALL = Limits(memory=400 * MIB, processes=24, cpu=2.0, file=8 * MIB, space=16 * MIB, output=256 * 1024)


def _of(module: ModuleType) -> dict[str, Callable[[Try], Any]]:
    return {name: one for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__}


MODULES = (amounts, claims, ends, places, powers, secrets, views)
WHAT = {name: one for module in MODULES for name, one in _of(module).items()}


def attempt(args: Try, context: CallContext) -> Any:
    with holding(context.credentials):  # as look-ups have them; an act may ask its context as well
        return WHAT[args.what](args)


def key_find(key: str) -> LookUp:
    return Found(reference=f"R {key}", arguments={"what": "answer"}) if key == "there" else Absent()


def key_verify(args: Try, said: Answer) -> Observed:
    return Observed(
        matches=args.what != "answer" or said.result == {"word": args.word}, seen=views.own_files(), reference="seen"
    )


def secret_verify(args: Try, said: Answer) -> Observed:
    """Read back with a credential, and show it."""
    return Observed(matches=True, seen={"read with": credential("planted")}, reference="seen")


BOX: dict[str, Any] = {"arguments": Try, "limits": SMALL, "timeout": 5.0, "lag": 0.1}
box_none = tool("box.none", effect_class="none", **BOX, attempts=2)(attempt)
box_keyed = tool("box.keyed", effect_class="keyed", **BOX, find=key_find, verify=key_verify)(attempt)
box_opaque = tool("box.opaque", effect_class="opaque", asks=False, **BOX)(attempt)
box_secret = tool("box.secret", effect_class="keyed", **BOX, credentials=("planted",), verify=secret_verify)(attempt)
box_here = tool(
    "box.here", effect_class="keyed", **BOX, **HERE, credentials=("planted",), find=key_find, verify=secret_verify
)(attempt)


@agent("box.pass")
def box_pass(view: TaskView) -> Decision:
    """One call leaves a file, the next one uses it."""
    number = view.intent["number"]
    if "keep" not in view.calls:
        return call("box.keyed", name="keep", what="keep_file", number=number)
    if "use" not in view.calls:
        return call("box.keyed", name="use", what="use_file", number=number, file=view.calls["keep"].answer["file"])
    return complete(summary="The file was passed on.")


@agent("box.run")
def box_run(view: TaskView) -> Decision:
    """Make the one call that the intent names."""
    if "box" not in view.calls:
        return call(view.intent["tool"], name="box", **view.intent["arguments"])
    return complete(summary="The box was tried.")
