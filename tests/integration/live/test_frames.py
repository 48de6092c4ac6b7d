"""case-23 and case-24: whatever a tool says, the record takes it, the frame stays small, and JSON.parse accepts it."""

import json

import pytest
from django.urls import reverse

from tasks_app.models import Blob
from tasks_app.models import Event as Row
from tasks_app.record.events import CallOutcome
from tests.integration.live.conftest import Live
from tests.integration.live.conftest import session_of as cookie_of

SIZES = {
    "7,900 bytes": "x" * 7_900,
    "8,000 bytes": "x" * 8_000,
    "8,100 bytes": "x" * 8_100,
    "8,000 bytes of 3-byte characters": "\u20ac" * 2_666,
    "256 KB": "x" * 256 * 1024,
    "20 MB": "x" * 20 * 1024 * 1024,
}
ODD = {
    "NUL": "W\x00s\x00l",
    "numbers that are none": {"mape": float("nan"), "max": float("inf")},
    "lone surrogate": "ok \ud83d",
    "bytes": b"\xff\xfe\x00",
    "the literal text": "\\u0000",
    "too large a number": 10**400,
    "big integer": {"id": 9007199254740993},
    "emoji at the cut": "x" * 11_999 + "\U0001f600" + "y",
    "direction": "safe\u202egpj",
    "markup": "</li><script>alert(1)</script>",
}


def outcome(result: object) -> CallOutcome:
    return CallOutcome(name="pay", attempt=1, outcome="ok", result=result)


@pytest.mark.parametrize("size", SIZES)
def test_case_23_a_payload_of_any_size_is_kept_whole_and_its_frame_is_small(live: Live, size: str):
    page = live.page(after=1)
    page.connect()
    page.until_head()
    text = SIZES[size]
    seq = live.write(outcome(text))
    page.until(seq)  # every frame is held against 64 KB on its way
    stored = Row.objects.get(stream=live.task.pk, seq=seq).data["result"]
    if isinstance(stored, str):
        assert stored == text
        return
    kept = Blob.objects.get(stream=live.task.pk)
    assert bytes(kept.content).decode() == text
    assert kept.sha256 in page.html
    assert reverse("task-blob", args=[live.task.pk, kept.sha256]) in page.html


@pytest.mark.parametrize("name", ODD)
def test_case_24_what_json_or_postgres_will_not_take_is_told_all_the_same(live: Live, name: str):
    page = live.page(after=1)
    page.connect()
    page.until_head()
    seq = live.write(outcome("before"), outcome(ODD[name]), outcome("after"))
    page.until(seq)
    assert page.seqs == [2, 3, 4]
    assert "<script>" not in page.html
    from django.test import Client

    client = Client(headers={"cookie": cookie_of(live.people.rhea)})
    shown = client.get(reverse("task", args=[live.task.pk]), {"event": 3}).content.decode()
    if name == "big integer":
        assert "9007199254740993" in shown
    altered = "$altered" in Row.objects.get(stream=live.task.pk, seq=3).data
    assert ("Altered before it was kept" in shown) == altered
    assert ("mark-altered" in page.html) == altered
    assert altered == (name not in {"the literal text", "emoji at the cut", "direction", "markup"})


def test_the_poll_answers_the_same_rows_in_one_json(live: Live):
    head = live.signals(30)
    from django.test import Client

    client = Client(headers={"cookie": cookie_of(live.people.rhea)})
    url = reverse("task-live", args=[live.task.pk])
    answer = client.get(url, {"after": 11, "timeline": 1})
    message = json.loads(answer.content)
    assert (message["seq"], message["after"], message["head"]) == (head, 11, head)
    assert all(f'id="event-{seq}"' in message["html"] for seq in range(12, head + 1))
    assert json.loads(client.get(url, {"after": head}).content) == {"head": head}
    assert Client().get(url).status_code == 302
    assert Client(headers={"cookie": cookie_of(live.people.tobin)}).get(url).status_code == 403
