"""Whether a drill may start here at all: environment, limits, the switch that a person has set."""

from django.conf import settings
from django.db import Error, connection

from chaos_app.drills.options import MOST_SIDE_BY_SIDE, Options
from chaos_app.models import DrillSwitch
from tasks_app.sandbox import levels


def refusal(options: Options) -> str:
    """Return in one sentence why this launch is refused; "" where it is not."""
    here = settings.HANDRAIL_ENVIRONMENT
    if here.lower() in settings.HANDRAIL_DRILLS_REFUSED_IN:
        return f"Drills are refused in the environment {here!r} (HANDRAIL_DRILLS_REFUSED_IN)."
    if options.misfit:
        return options.misfit
    if options.suite == "soak" and not 1 <= options.deaths <= settings.HANDRAIL_DRILL_CASES:
        return f"A soak has 1 to {settings.HANDRAIL_DRILL_CASES} kills (HANDRAIL_DRILL_CASES)."
    if not 0 < options.minutes <= settings.HANDRAIL_DRILL_MINUTES:
        return f"A run lasts at most {settings.HANDRAIL_DRILL_MINUTES:g} minutes (HANDRAIL_DRILL_MINUTES)."
    if not 0 <= options.side_by_side <= MOST_SIDE_BY_SIDE:
        return f"At most {MOST_SIDE_BY_SIDE} cases run side by side."
    if options.sandbox and (why := unwalled()):
        return why
    return _switched_off()


def cases_allowed(count: int) -> None:
    """Raise ValueError where a run would have more cases than one may; how many it has is known once it has looked."""
    most = settings.HANDRAIL_DRILL_CASES
    if count > most:
        raise ValueError(f"{count} cases are more than the {most} that one drill may have (HANDRAIL_DRILL_CASES).")


def unwalled() -> str:
    """Say why tools cannot be put between walls here, so that no sandbox can be found and killed; "" where they can."""
    here = levels.level_here()
    return "" if here.name == levels.NAMESPACES else f"No drill with sandboxes runs here. {' '.join(here.missing)}"


def _switched_off() -> str:
    """Ask the deployment's own database, if there is one: a drill itself needs none."""
    try:
        switch = DrillSwitch.objects.select_related("set_by").first()
    except Error:
        return ""
    finally:
        connection.close()
    return f"{switch.set_by.get_username()} switched drills off: {switch.reason}" if switch else ""
