"""``make bench``: the figures, one JSON line each, every one beside a floor of the same run.

``python -m tests.bench [NAME ...]`` runs those whose name contains NAME. Servers are private, with fsync on.
"""

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

MODULES = [
    "append",
    "steps",
    "scaling",
    "mixed",
    "bytes",
    "resume",
    "latency",
    "takeover",
    "waiting",
    "calm",
    "approval",
    "pages",
    "sandbox",
    "kills",
    "live",
    "peers",
]


def main(names: list[str]) -> int:
    """Run the chosen benchmarks on servers of their own."""
    from core.embedded.services import embedded

    chosen = [module for module in MODULES if not names or any(name in module for name in names)]
    if not chosen:
        print(f"No benchmark is called {' '.join(names)}; there are: {', '.join(MODULES)}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder, embedded(Path(folder) / "var") as services:
        os.environ |= {
            "DATABASE_URL": services.database_url,
            "REDIS_URL": services.redis_url,
            "HANDRAIL_VAR": str(Path(folder) / "var"),
            "DJANGO_SETTINGS_MODULE": "core.settings",
            "HANDRAIL_MODULES": "tests.bench.agents,tests.bench.mixed",
        }
        _prepare()
        for module in chosen:
            bench = importlib.import_module(f"tests.bench.bench_{module}")
            for figure in bench.figures(Path(folder)):
                print(json.dumps(figure), flush=True)
    return 0


def _prepare() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from tasks_app import registry

    registry.modules_load()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
