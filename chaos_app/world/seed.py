"""The first state of the outside world: the configurations that its services run with."""

import json
from pathlib import Path
from typing import Any

from chaos_app.world.errors import WorldUnusable
from chaos_app.world.marks import SEEDED
from chaos_app.world.outside import Outside
from chaos_app.world.repository import SERVICE


def seed(outside: Outside, path: Path | None) -> None:
    """Commit the configurations of ``path`` that are not there yet. Raises ``WorldUnusable`` for an unreadable file."""
    services = _services(path) if path else {}
    missing = {name: services[name] for name in services if name not in outside.repository.services()}
    if missing:
        outside.repository.write(missing, summary="First configuration", trailers={SEEDED: "yes"})
    else:
        outside.repository.deploy()


def _services(path: Path) -> dict[str, dict[str, Any]]:
    try:
        services = json.loads(path.read_text())["services"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorldUnusable(f"{path} is no seed: it needs an object 'services' ({error!r}).") from error
    wrong = [name for name, values in services.items() if not SERVICE.fullmatch(name) or not isinstance(values, dict)]
    if wrong:
        raise WorldUnusable(f"{path}: {', '.join(wrong)} is not a service name with an object.")
    return dict(services)
