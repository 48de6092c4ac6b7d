"""The forms of drills."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from chaos_app.drills.cells import slug
from chaos_app.drills.names import Fault
from chaos_app.drills.rows import EFFECTS, ROWS
from chaos_app.selectors.targets import Offered
from chaos_app.services.launch import NARROWING, SUITES
from chaos_app.templatetags.drills import promise

_SUITES = {
    "core": "Core: the 25 places that matter most, in about three minutes",
    "full": "Full: every place that is found, and every kind of fault, in about half an hour",
    "soak": "Soak: workers are killed at random, as often as you say",
}
# Which of the processes is killed; the faults' own names are those of evidence and of the command line.
_KILLS = {
    Fault.KILL: "SIGKILL of the process that runs the task",
    Fault.KILL_WORKER: "SIGKILL of the whole worker",
    Fault.KILL_BOTH: "SIGKILL of the worker and its keeper",
}


def _choices(targets: Sequence[Offered]) -> list[tuple[str, str]]:
    names = [(one.path, f"{one.name}: the agent {one.agent}") for one in targets if not one.problem]
    return [("", "The built-in agents, over all effect classes"), *names]


class LaunchForm(forms.Form):
    """What to drill. Nothing chosen below the suite means: all of it."""

    suite = forms.ChoiceField(
        choices=[(suite, _SUITES[suite]) for suite in SUITES], widget=forms.RadioSelect, initial="core"
    )
    target = forms.ChoiceField(
        label="What is drilled",
        required=False,
        widget=forms.RadioSelect,
        help_text="Your own agents are offered once their package has a target in PACKAGE.drill.",
    )
    row = forms.MultipleChoiceField(
        label="Only where the worker dies",
        required=False,
        choices=[(row.id, f"{row.id} {row.title}") for row in ROWS],
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="Hold Ctrl or Cmd to choose several.",
    )
    klass = forms.MultipleChoiceField(
        label="Only for tools that promise",
        required=False,
        choices=[(str(klass), promise(klass)) for klass in EFFECTS],
        widget=forms.CheckboxSelectMultiple,
    )
    fault = forms.MultipleChoiceField(
        label="Only this fault",
        required=False,
        choices=[(slug(fault), _KILLS.get(fault, str(fault))) for fault in Fault],
        widget=forms.SelectMultiple(attrs={"size": 6}),
    )
    sandbox = forms.BooleanField(
        label="Run the built-in tools in sandboxes",
        required=False,
        help_text="Slower. A drill that kills sandboxes has them anyway.",
    )
    kills = forms.IntegerField(label="How many kills (soak)", required=False, min_value=1, initial=100)
    seed = forms.IntegerField(required=False, min_value=0, help_text="Empty: a new one. The same one runs the same.")
    cell = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, targets: Sequence[Offered] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["target"].choices = _choices(targets)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A soak draws its places by chance, from the built-in agents: it can be narrowed down to none."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("target") and given.get("suite") == "soak":
            self.add_error("target", "An agent of your own is drilled by core or full; a soak is of the built-in ones.")
        narrowed = [name for name in NARROWING if given.get(name)] if given.get("suite") == "soak" else []
        for name in narrowed:
            shown = "suite" if name == "cell" else name
            self.add_error(shown, "A soak draws its places by chance. Choose core or full.")
        return given

    def clean_kills(self) -> int | None:
        """Keep within the limit of this installation."""
        kills: int | None = self.cleaned_data["kills"]
        if kills and kills > settings.HANDRAIL_DRILL_CASES:
            raise forms.ValidationError(f"At most {settings.HANDRAIL_DRILL_CASES} (HANDRAIL_DRILL_CASES).")
        return kills

    def selection(self) -> dict[str, Any]:
        """Return the choice as the service takes it."""
        given = self.cleaned_data
        chosen: dict[str, Any] = {name: given[name] for name in ("row", "klass", "fault") if given[name]}
        if given["cell"]:
            chosen["cell"] = [given["cell"]]
        chosen |= {name: given[name] for name in ("target", "sandbox") if given[name]}
        if given["suite"] == "soak":
            chosen["kills"] = given["kills"] or 100
        return chosen


class ScheduleForm(forms.Form):
    """When a suite runs by itself."""

    name = forms.CharField(max_length=80)
    cron = forms.CharField(max_length=100, initial="0 3 * * *", help_text="Minute, hour, day, month, weekday.")
    zone = forms.CharField(label="Time zone", initial="UTC", help_text="For example Europe/Berlin.")
    suite = forms.ChoiceField(choices=[("core", "Core"), ("full", "Full")])
    target = forms.ChoiceField(label="What is drilled", required=False)
    grace_seconds = forms.IntegerField(
        label="Grace in seconds",
        min_value=0,
        max_value=86_400,
        initial=1800,
        help_text="How late it may start.",
    )
    catch_up = forms.ChoiceField(
        label="After an absence",
        choices=[
            ("latest", "Only the latest slot, within its grace"),
            ("each", "Each missed slot, one after the other"),
            ("skip", "Nothing"),
        ],
    )
    catch_up_most = forms.IntegerField(label="At most so many", min_value=1, max_value=24, initial=3)
    overlap = forms.ChoiceField(
        label="While the run before is under way", choices=[("skip", "Skip the slot"), ("wait", "Wait for it to end")]
    )
    enabled = forms.BooleanField(required=False, initial=True)

    def __init__(self, *args: Any, targets: Sequence[Offered] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["target"].choices = _choices(targets)  # type: ignore[attr-defined]

    def values(self) -> dict[str, Any]:
        """Return the choice as the service takes it."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in {"name", "target"}}
        target = self.cleaned_data["target"]
        return given | {"selection": {"target": target} if target else {}}


class ReasonForm(forms.Form):
    """Why something is switched."""

    reason = forms.CharField(max_length=500)
