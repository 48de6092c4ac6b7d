"""How the words of drills are shown: verdicts, promises, places, seconds, the picture of a case."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chaos_app.drills.axis import Axis, axis_of, axis_of_control
from chaos_app.drills.caught import Caught, caught_said
from chaos_app.drills.evidence import Evidence
from chaos_app.drills.judge import Judgement
from chaos_app.drills.left_out import Gathered, LeftOut
from chaos_app.drills.left_out import gathered as gather
from chaos_app.drills.obligations import Obligation
from chaos_app.drills.rows import BY_ID
from chaos_app.models import DrillRun
from core import words
from core.moments import absolute
from core.templatetags.handrail import glyph
from core.words import Word

register = template.Library()
_PROMISES = {
    "keyed": "Safe to resend",
    "readable": "Can be looked up",
    "precondition": "Looked up and guarded",
    "opaque": "Cannot be checked",
    "none": "No effect",
    "any": "In no call",
}


@register.filter
def promise(klass: object) -> str:
    """Return what a class of tools promises, in plain words."""
    return _PROMISES.get(str(klass), str(klass))


@register.filter
def place(row: str) -> str:
    """Return where a row of the table lies, in plain words."""
    return BY_ID[row].title if row in BY_ID else row


@register.filter
def seconds(value: float | None) -> str:
    """Return a time: 0.41 s; a dash where none was seen."""
    return "-" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


@register.filter
def moment(value: float) -> str:
    """Return seconds since 1970 as a moment."""
    return absolute(datetime.fromtimestamp(value, UTC))


@register.filter
def verdict_word(verdict: str | None) -> Word:
    """Return how a verdict is shown."""
    return words.word("verdict", str(verdict or ""))


@register.filter
def verdict_tone(verdict: str | None) -> str:
    """Return the colour role of a verdict."""
    return verdict_word(verdict).tone


@register.filter
def tone(judgement: Judgement) -> str:
    """Return the colour role of a case: bad wherever it ended as it must not."""
    return "bad" if judgement.is_violation else verdict_word(judgement.verdict).tone


@register.simple_tag
def word(shown: Word) -> SafeString:
    """Show glyph and word."""
    return format_html(
        '<span class="status tone-{}">{}<span>{}</span></span>', shown.tone, glyph(shown.glyph), shown.text
    )


@register.simple_tag
def axis(evidence: Evidence) -> Axis:
    """Return the picture of a case."""
    return axis_of(evidence)


@register.simple_tag
def unprotected(evidence: Evidence) -> Axis | None:
    """Return the picture of the same case against an executor that protects nothing, if it was run."""
    found = [control for control in evidence.controls if control.kind == "unprotected"]
    return axis_of_control(found[0]) if found else None


_STATES = {
    "starting": Word("queued", "Starting", "idle"),
    "running": Word("running", "Running", "busy"),
    "stopped": Word("cancelled", "Stopped", "idle"),
    "failed": Word("failed", "Could not run", "bad"),
}
_EXITS = {
    0: Word("done", "All as allowed", "ok"),
    1: Word("failed", "Something is wrong", "bad"),
    2: Word("unknown", "Not conclusive", "unknown"),
}
_OBLIGATIONS = {
    "passed": Word("done", "Passed", "ok"),
    "failed": Word("failed", "Failed", "bad"),
    "not tried": Word("queued", "Not tried", "idle"),
}


@register.filter
def run_word(run: DrillRun) -> Word:
    """Return how the state of a run is shown."""
    if run.state == "ended" and run.suite == "guided":  # nobody judges it
        return Word("done", "Played to its end", "ok")
    if run.state == "ended":
        return _EXITS.get(run.exit_code if run.exit_code is not None else 2, _EXITS[2])
    return _STATES.get(run.state) or Word("info", run.state, "idle")


@register.filter
def obligation_word(obligation: Obligation) -> Word:
    """Return how an obligation is shown."""
    return _OBLIGATIONS[obligation.word]


@register.filter
def words_of(shown: Word) -> str:
    """Return the words without the glyph."""
    return shown.text


@register.simple_tag
def verdict_glyph(verdict: str) -> SafeString:
    """Draw the glyph of a verdict."""
    return glyph(verdict_word(verdict).glyph)


@register.filter
def stages(names: str) -> list[str]:
    """Return names that stand in a list."""
    return names.split(",")


@register.filter
def gathered(stored: list[dict[str, Any]]) -> tuple[Gathered, ...]:
    """Return what a stored run left out, by its reason."""
    return gather(LeftOut(**one) for one in stored)


@register.filter
def caught(run: DrillRun) -> str:
    """Say how often the executor that protects nothing was caught in a run."""
    return caught_said([Caught(**one) for one in run.caught or ()])


@register.filter
def unlocal(value: float) -> str:
    """Return a number as SVG takes it."""
    return f"{value:.1f}"
