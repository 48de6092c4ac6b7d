"""Files: deliverables by name, with the digest by which a completion criterion knows them."""

import base64
import hashlib
import re
import time

from chaos_app.world.errors import Refused
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Reply, Visit

SYSTEM = "files"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def file_put(outside: Outside, visit: Visit) -> Reply:
    """Store a file; the content that is there already counts as no effect. ``If-None-Match: *`` refuses to replace."""
    name = _name(visit)
    before = file_row(outside.storage, name)
    _may_replace(visit, before)
    digest = hashlib.sha256(visit.content).hexdigest()
    if before and before["digest"] == digest and not visit.planted:
        return Reply(200, before, _validators(before))
    path = outside.files / name
    path.with_name(name + ".part").write_bytes(visit.content)
    path.with_name(name + ".part").replace(path)
    outside.storage.run(
        "INSERT OR REPLACE INTO file (name, at, key, size, digest, media_type) VALUES (?, ?, ?, ?, ?, ?)",
        *(name, time.time(), visit.marks.key, len(visit.content), digest),
        visit.headers.get("content-type", "application/octet-stream")[:100],
    )
    outside.ledger.effect(visit, reference=name, arguments={"name": name, "digest": digest})
    after = file_row(outside.storage, name) or {}
    return Reply(200 if before else 201, after, _validators(after))


def file_get(outside: Outside, visit: Visit) -> Reply:
    """The content as it is on the disk, with its digest."""
    name = _name(visit)
    row = file_row(outside.storage, name)
    if not visit.seen([row] if row else []) or row is None:
        raise Refused(404, "not_found", f"There is no file {name}.")
    content = (outside.files / name).read_bytes()
    return Reply(200, content, {"Content-Type": row["media_type"], **_validators(row)})


def files_list(outside: Outside, visit: Visit) -> Reply:
    """Names, sizes and digests."""
    return Reply(200, {"files": visit.seen(files_shown(outside.storage)), "complete": True})


def file_row(storage: Storage, name: str) -> Row | None:
    """What is known of one file."""
    return storage.row("SELECT * FROM file WHERE name = ?", name)


def files_shown(storage: Storage) -> list[Row]:
    """Every file, oldest first."""
    return storage.rows("SELECT * FROM file ORDER BY at, name")


def _name(visit: Visit) -> str:
    name = visit.parameters["name"]
    if not NAME.fullmatch(name) or name.endswith(".part"):
        raise Refused(400, "invalid", "A file is named with letters, digits, . _ and -, and not .part at the end.")
    return name


def _may_replace(visit: Visit, before: Row | None) -> None:
    if visit.headers.get("if-none-match", "").strip() == "*" and before:
        raise Refused(412, "changed_since", "The file is there already.", {"digest": before["digest"]})
    wanted = visit.headers.get("if-match")
    if wanted and (before is None or wanted.strip('"') != before["digest"]):
        raise Refused(412, "changed_since", "The file is another one.", {"digest": before and before["digest"]})


def _validators(row: Row) -> dict[str, str]:
    coded = base64.b64encode(bytes.fromhex(row["digest"])).decode()
    return {"ETag": f'"{row["digest"]}"', "Repr-Digest": f"sha-256=:{coded}:"}


OPERATIONS = [
    Operation(SYSTEM, "put", "PUT", "/files/{name}", file_put, keyed=True),
    Operation(SYSTEM, "list", "GET", "/files", files_list, acts=False),
    Operation(SYSTEM, "read", "GET", "/files/{name}", file_get, acts=False),
]
