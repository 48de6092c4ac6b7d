"""What a tool's module needs to be importable inside: its package, what it names, ours; never a whole project folder.

A project's folder holds databases, keys and settings beside its code, so only the packages themselves are shown.
"""

import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

OURS = ("tasks_app", "core")


@cache
def seen_inside(module: str, more: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (what stands on sys.path, what is mounted) for a module and other packages that it names."""
    installed = [path for path in sys.path if path and _is_installed(Path(path))]
    tops = dict.fromkeys(name.partition(".")[0] for name in (module, *more, *OURS))
    places = [place for top in tops for place in _places(top) if not _is_installed(place)]
    paths = [*dict.fromkeys(str(place.parent) for place in places), *installed]
    return tuple(paths), tuple(dict.fromkeys([*map(str, places), *_outside(installed)]))


def _places(top: str) -> Iterable[Path]:
    """Return the folder or file of a top-level package; nothing for what is built in or not there."""
    loaded = sys.modules.get(top)
    spec = getattr(loaded, "__spec__", None) or (find_spec(top) if loaded is None else None)
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [Path(place) for place in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.has_location and spec.origin else []


def _is_installed(place: Path) -> bool:
    """Whether it lies in the interpreter or in the virtual environment, which are seen inside as they are."""
    roots = {Path(sys.prefix), Path(sys.base_prefix)}
    return any(place.is_relative_to(root) for root in roots) and place not in roots


def _outside(installed: Iterable[str]) -> list[str]:
    """Return where installed paths really are, if links lead out of the environment."""
    real = {str(Path(path).resolve()) for path in installed}
    return sorted(path for path in real if not _is_installed(Path(path)))
