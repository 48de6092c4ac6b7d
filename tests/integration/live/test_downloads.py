"""A file that is made while it is sent is never whole in memory."""

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import httpx
import pytest
from django.core.handlers.asgi import ASGIRequest
from django.urls import reverse

from core import downloads
from core.downloads import download
from tasks_app.models import Blob
from tasks_app.record.verifier import verify
from tests.integration.live.conftest import Live, session_of


def over_asgi() -> ASGIRequest:
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    return ASGIRequest(scope, None)


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_is_read_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(downloads, "PART", 1000)
    made: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(100):
            made.append(number)
            yield f"{number:099d}\n"

    async def received() -> list[tuple[int, int]]:
        answer = download(over_asgi(), name="a.jsonl", lines=lines())
        return [(len(part), len(made)) async for part in answer]

    parts = asyncio.run(received())
    assert [size for size, _ in parts] == [1000] * 10
    assert [count for _, count in parts] == list(range(10, 101, 10))


def test_a_record_comes_whole_from_a_web_process_and_verifies(live: Live):
    live.signals(1200)
    for number in range(3):
        content = bytes([number]) * 300_000
        Blob.objects.create(stream=live.task.pk, sha256=sha256(content).hexdigest(), content=content, size=len(content))
    address = f"{live.web.address}{reverse('task-export', args=[live.task.pk])}"
    answer = httpx.get(address, headers={"cookie": session_of(live.people.rhea)}, timeout=60)
    lines = answer.text.splitlines()
    assert len(lines) == 1 + live.refresh().head_seq + 3
    assert "must consume synchronous iterators" not in live.web.log.read_text()
    report = verify(lines)
    assert not report.problems
