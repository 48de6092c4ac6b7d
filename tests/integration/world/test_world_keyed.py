"""Keyed systems: one effect a key, for as long as the key is remembered."""

import threading
import time

from chaos_app.world.client import World, WorldClient, headers

TICKET = {"title": "Pool exhausted", "service": "checkout-api", "severity": "major"}


def test_the_same_key_gets_the_same_answer_and_one_ticket(client: WorldClient, key: str) -> None:
    first = client.http.post("/tickets", json=TICKET, headers=headers(key=key))
    again = client.http.post("/tickets", json=TICKET, headers=headers(key=key, attempt=2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    found = client.http.get("/tickets", params={"key": key}).json()
    assert [ticket["id"] for ticket in found["tickets"]] == [first.json()["id"]]
    ledger = client.ledger(key=key)
    assert [arrival.replayed for arrival in ledger.arrivals if arrival.acts] == [False, True]
    assert len(ledger.effects) == 1


def test_the_same_key_with_another_body_is_refused(client: WorldClient, key: str) -> None:
    client.http.post("/tickets", json=TICKET, headers=headers(key=key))
    other = client.http.post("/tickets", json=TICKET | {"title": "Other"}, headers=headers(key=key))
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert len(client.effects(key=key)) == 1


def test_a_key_is_in_use_while_its_first_request_is_processed(client: WorldClient, key: str) -> None:
    hold = client.arm("tickets", "hold", match={"key": key}, at="before")
    answers: list[int] = []
    first = threading.Thread(
        target=lambda: answers.append(client.http.post("/tickets", json=TICKET, headers=headers(key=key)).status_code)
    )
    first.start()
    client.wait_reached(hold.id)
    second = client.http.post("/tickets", json=TICKET, headers=headers(key=key, attempt=2))
    assert (second.status_code, second.json()["code"]) == (409, "key_in_use")
    assert client.release(hold.id) == 1
    first.join(10)
    assert answers == [201]
    assert client.http.post("/tickets", json=TICKET, headers=headers(key=key)).headers["Idempotency-Replayed"]
    assert len(client.effects(key=key)) == 1


def test_without_a_key_every_request_opens_a_ticket(client: WorldClient, key: str) -> None:
    marked = headers(key=key, idempotent=False)
    first, second = (client.http.post("/tickets", json=TICKET, headers=marked).json()["id"] for _ in range(2))
    assert first != second
    assert len(client.effects(key=key)) == 2


def test_a_key_is_forgotten_after_its_retention(client: WorldClient, key: str) -> None:
    client.set_retention(0)
    try:
        client.http.post("/tickets", json=TICKET, headers=headers(key=key))
        client.http.post("/tickets", json=TICKET, headers=headers(key=key))
    finally:
        client.set_retention(86_400)
    assert len(client.effects(key=key)) == 2
    client.forget_keys()
    client.http.post("/tickets", json=TICKET, headers=headers(key=key))
    assert len(client.effects(key=key)) == 3


def test_a_refused_body_leaves_its_key_free(client: WorldClient, key: str) -> None:
    wrong = client.http.post("/tickets", json={"titel": "x"}, headers=headers(key=key))
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")
    assert client.http.post("/tickets", json=TICKET, headers=headers(key=key)).status_code == 201


def test_tickets_are_commented_and_closed_once(client: WorldClient, key: str) -> None:
    ticket = client.http.post("/tickets", json=TICKET, headers=headers(key=key)).json()
    path = f"/tickets/{ticket['id']}"
    client.http.post(f"{path}/comments", json={"body": "Looking"}, headers=headers(key=f"{key}-c"))
    client.http.post(f"{path}/comments", json={"body": "Looking"}, headers=headers(key=f"{key}-c"))
    for number in (1, 2):
        client.http.post(f"{path}/close", json={"reason": "Fixed"}, headers=headers(key=f"{key}-{number}"))
    shown = client.http.get(path).json()
    assert shown["state"] == "closed"
    assert [comment["body"] for comment in shown["comments"]] == ["Looking", "Fixed"]
    assert client.effects(key=f"{key}-2") == []
    assert client.http.get("/tickets/T-999999").status_code == 404


def test_concurrent_requests_with_one_key_open_one_ticket(client: WorldClient, world: World, key: str) -> None:
    statuses: list[int] = []

    def send() -> None:
        own = WorldClient(world.url)
        statuses.append(own.http.post("/tickets", json=TICKET, headers=headers(key=key)).status_code)
        own.close()

    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(statuses) == 12
    assert set(statuses) <= {201, 409}
    assert len(client.effects(key=key)) == 1


def test_a_batch_stops_after_some_items_and_the_rest_is_finished_by_key(client: WorldClient, key: str) -> None:
    items = [{"key": f"{key}-{n}", "room": "ops", "text": f"notice {n}"} for n in range(5)]
    client.arm("batch", "partial", match={"business_key": key}, count=2)
    marked = headers(business_key=key)
    partial = client.http.post("/batch", json={"items": items}, headers=marked)
    assert (partial.status_code, len(partial.json()["items"])) == (500, 2)
    whole = client.http.post("/batch", json={"items": items}, headers=marked).json()
    assert [item["replayed"] for item in whole["items"]] == [True, True, False, False, False]
    assert [len(client.http.get("/batch", params={"key": item["key"]}).json()["items"]) for item in items] == [1] * 5
    assert len(client.effects(business_key=key)) == 5
    assert key not in {group["value"] for group in client.state()["repetitions"]}


def test_a_batch_applies_nothing_when_one_key_was_used_for_another_item(client: WorldClient, key: str) -> None:
    client.http.post("/batch", json={"items": [{"key": key, "room": "ops", "text": "first"}]})
    items = [{"key": f"{key}-new", "room": "ops", "text": "new"}, {"key": key, "room": "ops", "text": "second"}]
    assert client.http.post("/batch", json={"items": items}).status_code == 422
    assert client.http.get("/batch", params={"key": f"{key}-new"}).json()["items"] == []


def test_a_batch_that_contradicts_itself_leaves_nothing_behind(client: WorldClient, key: str) -> None:
    items = [{"key": key, "room": "ops", "text": text} for text in ("first", "second")]
    assert client.http.post("/batch", json={"items": items}).status_code == 422
    assert client.http.get("/batch", params={"key": key}).json()["items"] == []
    assert client.effects(key=key) == []


def test_a_job_is_started_once_and_polled_until_it_is_done(client: WorldClient, key: str) -> None:
    work = {"kind": "reindex", "seconds": 0.2, "result": {"rows": 3}}
    job = client.http.post("/jobs", json=work, headers=headers(key=key))
    assert (job.status_code, job.json()["state"]) == (202, "running")
    handle = job.json()["handle"]
    assert client.http.post("/jobs", json=work, headers=headers(key=key)).json()["handle"] == handle
    end = time.monotonic() + 10
    while (shown := client.http.get(f"/jobs/{handle}").json())["state"] == "running":
        assert time.monotonic() < end
    assert (shown["state"], shown["result"]) == ("done", {"rows": 3})
    assert len(client.http.get("/jobs", params={"key": key}).json()["jobs"]) == 1
    assert len(client.effects(key=key)) == 1


def test_a_file_is_known_by_its_digest_and_the_same_content_is_no_second_effect(client: WorldClient, key: str) -> None:
    path, content = f"/files/{key}.csv", b"a,b\n1,2\n"
    first = client.http.put(path, content=content, headers={"Content-Type": "text/csv"} | headers(key=key))
    again = client.http.put(path, content=content, headers=headers(key=f"{key}-again", call=key))
    assert (first.status_code, again.status_code) == (201, 200)
    got = client.http.get(path)
    assert got.content == content
    assert got.headers["ETag"].strip('"') == first.json()["digest"]
    assert len(client.effects(key=key)) == 1
    assert client.effects(key=f"{key}-again") == []
    blocked = client.http.put(path, content=b"new", headers={"If-None-Match": "*"})
    assert blocked.status_code == 412
    assert client.http.put("/files/..%2fescape", content=b"x").status_code in (400, 404)


def test_stock_differs_at_each_read_and_reading_has_no_effect(client: WorldClient, key: str) -> None:
    left = [client.http.get(f"/stock/{key}", headers=headers(call=key)).json()["left"] for _ in range(3)]
    assert left == [5, 4, 3]
    ledger = client.ledger(call=key)
    assert (len(ledger.arrivals), ledger.effects) == (3, [])
