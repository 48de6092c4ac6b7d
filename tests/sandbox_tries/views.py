"""What a tool sees of the machine, and tries to read or write there."""

import os
import stat
import sys
from pathlib import Path
from typing import Any

from tasks_app.artifacts import artifact_content, artifact_keep
from tests.sandbox_tries.trying import Try

KINDS = {"socket": stat.S_ISSOCK, "device": stat.S_ISCHR, "pipe": stat.S_ISFIFO, "file": stat.S_ISREG}


def environment(args: Try) -> Any:
    return dict(os.environ)


def loaded(args: Try) -> Any:
    """Say what of it is loaded that speaks over a network."""
    return sorted({"httpx", "httpcore"} & set(sys.modules))


def read_file(args: Try) -> Any:
    try:
        return Path(args.word).read_text(errors="replace")[:200]
    except OSError as error:
        return f"OSError: {error.strerror}"


def read_folder(args: Try) -> Any:
    try:
        return sorted(os.listdir(args.word))
    except OSError as error:
        return f"OSError: {error.strerror}"


def write_outside(args: Try) -> Any:
    said = {}
    for place in ("/", "/usr", "/etc", "/dev", "/dev/shm", sys.prefix, str(Path(__file__).parent), args.word):
        try:
            Path(place, "left-by-a-sandbox").write_text("x")
            said[place] = "written"
        except OSError as error:
            said[place] = error.strerror
    return said


def write_own(args: Try) -> Any:
    Path("/tmp/mine").write_text(args.word)
    return own_files()


def own_files() -> list[str]:
    """List what is in the private folder, without what only leads to the code (a checkout may stand under /tmp)."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted(name for name in os.listdir("/tmp") if not any(f"{m}/".startswith(f"/tmp/{name}/") for m in mounted))


def keep_file(args: Try) -> Any:
    """Leave a file for another call."""
    content = bytes(range(256)) * args.number
    Path("/tmp/made").write_bytes(content)
    return {"file": artifact_keep(Path("/tmp/made").read_bytes(), name="made")}


def use_file(args: Try) -> Any:
    content = artifact_content(args.file)
    return {"size": len(content), "right": content == bytes(range(256)) * args.number, "around": own_files()}


def descriptors(args: Try) -> Any:
    own = {}
    for number in range(256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        own[str(number)] = next((word for word, test in KINDS.items() if test(mode)), "other")
    return own
