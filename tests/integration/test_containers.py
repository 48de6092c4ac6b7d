"""The containers' file, without containers: its commands, with its variables and no others, are a whole that is ready.

Only the addresses of the two servers are others; the databases are made as the file has them made.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml

from core import port
from core.embedded.postgres import binary
from core.embedded.services import Services, embedded
from tests.processes import ROOT, running, wait_for

pytestmark = pytest.mark.timeout(400)
DOCS = ROOT / "docs"
HOST = "handrail.example.org"
GIVEN = {
    "SECRET_KEY": "Kq7-of-each-process-the-same-and-known-to-no-one-else-4711",
    "HANDRAIL_CREDENTIAL_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "OWNER_PASSWORD": "owner1",
    "DATABASE_PASSWORD": "application1",
    "PUBLIC_HOST": HOST,
}
PLACE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


def filled(text: str) -> str:
    """Put the variables into the file as its reader does. Raises where one that must be given is not."""

    def value(found: re.Match[str]) -> str:
        name, how, other = found.groups()
        if name not in GIVEN and how != "-":
            raise KeyError(f"{name}: {other or 'is not given'}")
        return GIVEN.get(name, other)

    return PLACE.sub(value, text)


def whole(value: Any) -> Any:
    """Fill every text of what was parsed."""
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return [whole(one) for one in value]
    return filled(value) if isinstance(value, str) else value


FILE = whole(yaml.safe_load((DOCS / "compose.yaml").read_text()))
IMAGE = (DOCS / "Dockerfile").read_text()


def own(name: str) -> dict[str, str]:
    """Return the variables that a container of this service has."""
    set_in_image = dict(word.split("=", 1) for word in re.findall(r"^ENV (.*)$", IMAGE, re.M)[0].split())
    return set_in_image | FILE["services"][name]["environment"]


def command(name: str) -> list[str]:
    started = FILE["services"][name].get("command") or json.loads(re.findall(r"^CMD (.*)$", IMAGE, re.M)[0])
    assert started[0] == "python"
    return list(started[1:])


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with embedded(tmp_path / "var", settings={"fsync": "off"}) as found:
        yield found


def databases_make(services: Services) -> None:
    """Do what the Postgres image does on an empty volume, with the file's own script."""
    told = FILE["services"]["postgres"]["environment"]
    with psycopg.connect(services.postgres.superuser_url, autocommit=True) as superuser:
        for statement in (
            "DROP DATABASE handrail",
            "DROP ROLE handrail",
            f"CREATE ROLE {told['POSTGRES_USER']} LOGIN SUPERUSER",
            f"CREATE DATABASE {told['POSTGRES_DB']} OWNER {told['POSTGRES_USER']}",
        ):
            superuser.execute(statement)  # type: ignore[arg-type]
        host = superuser.info.host
    path = f"{binary('psql').parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", str(DOCS / "application-role.sh")],
        env=told | {"PATH": path, "PGHOST": host},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def environment(name: str, services: Services, folder: Path) -> dict[str, str]:
    """Return the container's variables, with our servers where the file names its own, and its folder elsewhere."""
    found = own(name)
    assert found["REDIS_URL"].startswith("redis://valkey:")
    for variable in {"DATABASE_URL", "DATABASE_OWNER_URL"} & set(found):
        role, _, place = found[variable].removeprefix("postgresql://").partition("@")
        assert place == f"postgres/{FILE['services']['postgres']['environment']['POSTGRES_DB']}"
        user = role.partition(":")[0]
        found[variable] = re.sub(r"//[^@]*@/[^?]*", f"//{user}@/handrail", services.postgres.superuser_url)
    return found | {
        "REDIS_URL": services.redis_url,
        "HANDRAIL_VAR": str(folder / name),
        "PATH": os.environ["PATH"],
    }


def test_every_command_with_its_variables_makes_a_whole_that_is_ready(services: Services, tmp_path: Path):
    databases_make(services)

    def manage(name: str, *words: str) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=environment(name, services, tmp_path),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    manage("migrate", *command("migrate"))
    manage("migrate", "manage.py", "check", "--deploy", "--fail-level", "WARNING")
    number = str(port.free(0))
    log = tmp_path / "log"
    with ExitStack() as stack:
        for name in ("web", "worker", "sweeper"):
            (tmp_path / name).mkdir(exist_ok=True)
            words = [{"0.0.0.0": "127.0.0.1", "8000": number}.get(word, word) for word in command(name)]
            stack.enter_context(running(*words, env=environment(name, services, tmp_path), log=log))
        said = wait_for(lambda: _ready(number), seconds=120, what="the containers' processes")
        assert set(said["parts"].values()) == {"ok"}
        outside = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7"}
        page = httpx.get(f"http://127.0.0.1:{number}/sign-in/", headers=outside)
        assert page.status_code == 200
        assert "Strict-Transport-Security" in page.headers
        assert httpx.get(f"http://127.0.0.1:{number}/metrics", headers=outside).status_code in {401, 403, 404}
    assert "Traceback" not in log.read_text()


def _ready(number: str) -> Any:
    try:
        answer = httpx.get(
            f"http://127.0.0.1:{number}/api/v1/ready", headers={"Host": HOST, "X-Forwarded-Proto": "https"}, timeout=5
        )
    except httpx.HTTPError:
        return None
    return answer.json() if answer.status_code == 200 else None


def test_what_waits_for_what_and_what_is_kept_is_there():
    made = FILE["services"]
    for name, one in made.items():
        for other in one.get("depends_on", {}):
            assert other in made, (name, other)
        for volume in one.get("volumes", []):
            place = volume.split(":")[0]
            assert (DOCS / place).exists() if place.startswith(".") else place in FILE["volumes"], volume
    for name in ("migrate", "web", "worker", "sweeper"):
        build = made[name]["build"]
        assert ((DOCS / build["context"]).resolve() / build["dockerfile"]).samefile(DOCS / "Dockerfile")


def test_a_variable_that_is_not_given_is_named_before_anything_starts():
    for name in ("SECRET_KEY", "HANDRAIL_CREDENTIAL_KEYS", "OWNER_PASSWORD", "DATABASE_PASSWORD", "PUBLIC_HOST"):
        assert re.search(rf"\$\{{{name}:\?[^}}]+\}}", (DOCS / "compose.yaml").read_text()), name
