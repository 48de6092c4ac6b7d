"""What can stand in the way of the embedded services. Each message says what, where, and what to do."""

from pathlib import Path


class EmbeddedError(Exception):
    """The embedded services cannot run here."""


class FolderInUseError(EmbeddedError):
    """Another Handrail runs in this folder."""

    def __init__(self, var: Path, pid: int | None) -> None:
        self.var, self.pid = var, pid

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        stop = f"kill {self.pid}" if self.pid else "Ctrl-C in its window"
        return (
            f"Handrail already runs in {self.var} ({who}); nothing was started. "
            f"Use that one, stop it first ({stop}), or choose another folder with HANDRAIL_VAR."
        )


class FolderUnusableError(EmbeddedError):
    """The folder cannot be written or is not ours."""

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder, self.reason = folder, reason

    def __str__(self) -> str:
        return (
            f"{self.folder} cannot be used: {self.reason}. Nothing was changed. "
            "Make it a folder that this user owns and may write, or choose another with HANDRAIL_VAR."
        )


class KeyEmptyError(EmbeddedError):
    """A file that holds a key is empty."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __str__(self) -> str:
        return (
            f"{self.file} is empty, so the key that it held is lost; nothing was started or changed. Put it back from "
            "a backup. Without one, remove the file, and a new key is made: what the old one signed or sealed is not "
            "read any more (people sign in again; credentials are set anew)."
        )


class DiskFullError(EmbeddedError):
    """Too little room to start (bytes)."""

    def __init__(self, folder: Path, free: int, needed: int) -> None:
        self.folder, self.free, self.needed = folder, free, needed

    def __str__(self) -> str:
        return (
            f"The disk of {self.folder} has {self.free // 2**20} MB free and starting needs {self.needed // 2**20} MB; "
            "nothing was started and your data are as they were. Free some room, or choose another folder "
            "with HANDRAIL_VAR."
        )


class NoBinaryError(EmbeddedError):
    """No binary of this service for this machine."""

    def __init__(self, service: str, variable: str, reason: str) -> None:
        self.service, self.variable, self.reason = service, variable, reason

    def __str__(self) -> str:
        return (
            f"There is no embedded {self.service} for this machine ({self.reason}). "
            f"Run a {self.service} of your own and set {self.variable} to its address."
        )


class OtherVersionError(EmbeddedError):
    """The data folder was made by another PostgreSQL."""

    def __init__(self, data: Path, found: str, ours: str) -> None:
        self.data, self.found, self.ours = data, found, ours

    def __str__(self) -> str:
        return (
            f"{self.data} was made by PostgreSQL {self.found} and this Handrail runs {self.ours}. It was not touched. "
            f"Dump it with the version that wrote it, or move it away (mv {self.data} {self.data}-{self.found}) "
            "to begin with an empty one."
        )


class DataBrokenError(EmbeddedError):
    """The data folder is not one that Postgres can start from."""

    def __init__(self, data: Path, reason: str) -> None:
        self.data, self.reason = data, reason

    def __str__(self) -> str:
        return (
            f"The Postgres data in {self.data} cannot be started: {self.reason}. Nothing was deleted. "
            f"Put a backup in its place, or move it away (mv {self.data} {self.data}-broken) to begin anew."
        )


class ServiceSilentError(EmbeddedError):
    """A service ended or stayed silent while it was started."""

    def __init__(self, service: str, log: Path, lines: str) -> None:
        self.service, self.log, self.lines = service, log, lines

    def __str__(self) -> str:
        return (
            f"The embedded {self.service} did not come up; your data were not changed by us. "
            f"Its last words (all of them: {self.log}):\n{self.lines}"
        )
