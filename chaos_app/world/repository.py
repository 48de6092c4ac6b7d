"""The configuration repository: a real bare git repository and the work tree that its services would read."""

import io
import json
import os
import re
import subprocess
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_app.world.errors import WorldUnusable
from chaos_app.world.marks import BUSINESS_KEY, CALL, KEY, PLANTED, SEEDED

BRANCH = "refs/heads/main"
SERVICE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
SERVICE_TRAILER = "Service"
TRAILERS = {
    "service": SERVICE_TRAILER,
    "key": KEY,
    "call": CALL,
    "business_key": BUSINESS_KEY,
    "planted": PLANTED,
    "seeded": SEEDED,
}
FORMAT = "%x1e%H%x1f%ct%x1f%s%x1f" + "%x1f".join(
    f"%(trailers:key={name},valueonly,separator=%x20,unfold)" for name in TRAILERS.values()
)


@dataclass(frozen=True)
class Commit:
    """One change of one service's configuration; ``at`` in seconds since 1970, ``diff`` as git prints it."""

    version: str
    at: float
    subject: str
    service: str
    trailers: dict[str, str]
    diff: str

    @property
    def seeded(self) -> bool:
        """Whether the world itself wrote it at the start: no effect of anybody."""
        return "seeded" in self.trailers


class Repository:
    """One file a service, ``services/<name>.json``. Writers take ``Outside.repository_lock`` around a change."""

    def __init__(self, git_dir: Path, work_tree: Path) -> None:
        self.git_dir, self.work_tree = git_dir, work_tree
        work_tree.mkdir(exist_ok=True)
        if not (git_dir / "HEAD").exists():
            self._git("init", "--quiet", "--bare", "--initial-branch=main", str(git_dir), inside=False)
        self._git("config", "receive.denyNonFastForwards", "true")

    def read(self, service: str) -> tuple[dict[str, Any], str] | None:
        """The configuration and its version: the commit that last touched this service's file."""
        if not self._head():
            return None
        version = self._git("log", "-1", "--format=%H", BRANCH, "--", _path(service)).strip()
        if not version:
            return None
        return json.loads(self._git("cat-file", "blob", f"{version}:{_path(service)}")), version

    def write(self, contents: dict[str, dict[str, Any]], *, summary: str, trailers: dict[str, str]) -> str:
        """Commit new configurations and bring the work tree up to date; the id of the commit."""
        body = "".join(f"{name}: {value}\n" for name, value in trailers.items())
        message = f"{summary}\n\n{body}".encode()
        feed = [b"commit %s\nmark :1\n" % BRANCH.encode()]
        feed.append(b"committer World <world@localhost> %d +0000\n" % int(time.time()))
        feed.append(b"data %d\n%s\n" % (len(message), message))
        if self._head():
            feed.append(b"from %s^0\n" % BRANCH.encode())
        for service, content in contents.items():
            data = (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()
            feed.append(b"M 100644 inline %s\ndata %d\n%s\n" % (_path(service).encode(), len(data), data))
        feed.append(b"\nget-mark :1\ndone\n")
        # One process writes blob, tree, commit and branch: either the commit is there or nothing is.
        version = self._git("fast-import", "--quiet", "--done", feed=b"".join(feed)).strip()
        self.deploy()
        return version

    def deploy(self) -> None:
        """Bring the work tree to the newest commit, as a deployment does: without an index that could stay locked."""
        if self._head():
            packed = self._run("archive", "--format=tar", BRANCH)
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(self.work_tree, filter="data")

    def services(self) -> list[str]:
        """The services that have a configuration."""
        if not self._head():
            return []
        names = self._git("ls-tree", "--name-only", BRANCH, "services/").splitlines()
        return [Path(name).stem for name in names]

    def log(self, *, key: str | None = None, limit: int | None = None, diffs: bool = False) -> list[Commit]:
        """Commits, newest first; ``key`` keeps those that carry exactly this trailer ``Handrail-Key``."""
        if not self._head():
            return []
        narrow = ["--fixed-strings", f"--grep={KEY}: {key}"] if key is not None else []
        bound = [f"--max-count={limit}"] if limit is not None else []
        shown = ["--patch", "--unified=1"] if diffs else ["--name-only"]
        out = self._git("log", *bound, *narrow, f"--format={FORMAT}%x1f", *shown, "--no-color", BRANCH)
        commits = [_commit(record) for record in out.split("\x1e")[1:]]
        return [commit for commit in commits if key is None or commit.trailers.get("key") == key]

    def _head(self) -> bool:
        return (self.git_dir / BRANCH).exists() or (self.git_dir / "packed-refs").exists()

    def _git(self, *arguments: str, feed: bytes | None = None, inside: bool = True) -> str:
        return self._run(*arguments, feed=feed, inside=inside).decode(errors="replace")

    def _run(self, *arguments: str, feed: bytes | None = None, inside: bool = True) -> bytes:
        place = [f"--git-dir={self.git_dir}"] if inside else []
        # No configuration of the machine or of its user may change what this repository does.
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.git_dir), "LC_ALL": "C.UTF-8"}
        environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
        try:
            done = subprocess.run(
                ["git", *place, *arguments], input=feed or b"", capture_output=True, check=True, env=environment
            )
        except FileNotFoundError as error:
            raise WorldUnusable("git was not found. Install git: the outside world keeps a real repository.") from error
        except subprocess.CalledProcessError as error:
            complaint = error.stderr.decode(errors="replace").strip()
            raise WorldUnusable(f"git {arguments[0]} failed in {self.git_dir}: {complaint}") from error
        return done.stdout


def _path(service: str) -> str:
    return f"services/{service}.json"


def _commit(record: str) -> Commit:
    version, at, subject, *rest = record.split("\x1f")
    *values, diff = rest
    trailers = {name: value for name, value in zip(TRAILERS, values, strict=True) if value}
    touched = re.search(r"^(?:diff --git a/)?services/(\S+)\.json\b", diff, re.MULTILINE)
    service = trailers.pop("service", None) or (touched[1] if touched else "")
    return Commit(version, float(at), subject, service, trailers, diff.strip())
