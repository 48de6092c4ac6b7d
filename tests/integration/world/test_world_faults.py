"""What the outside world can be told to do wrong, over HTTP and SMTP, and that it tells what really happened."""

import smtplib
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from chaos_app.world.client import Effect, World, WorldClient, headers, mail_send

TICKET = {"title": "Pool exhausted"}


def post(client: WorldClient, key: str, **marks: object) -> httpx.Response:
    return client.http.post("/tickets", json=TICKET, headers=headers(key=key, **marks))  # type: ignore[arg-type]


def send(world: World, key: str, fault: str | None = None) -> None:
    marks = headers(key=key, fault=fault, idempotent=False)
    mail_send(world.smtp, message_id=f"{key}@h.test", to="a@b.test", subject="s", body="b", marks=marks)


def soon(look: Callable[[], list[Effect]]) -> list[Effect]:
    end = time.monotonic() + 10
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.01)
    return seen


def ended(client: WorldClient, key: str) -> str | None:
    return client.ledger(key=key).arrivals[-1].ended


@pytest.mark.parametrize("told", ["armed", "header"])
def test_a_lost_answer_is_an_effect_without_an_answer(client: WorldClient, key: str, told: str) -> None:
    if told == "armed":
        client.arm("tickets", "lose_answer", match={"key": key})
    with pytest.raises(httpx.RemoteProtocolError):
        post(client, key, fault="lose_answer" if told == "header" else None)
    assert len(client.effects(key=key)) == 1
    assert ended(client, key) == "cut"
    assert post(client, key).headers["Idempotency-Replayed"] == "true"
    assert len(client.effects(key=key)) == 1


@pytest.mark.parametrize(
    ("fault", "status", "effects"),
    [("refuse", 422, 0), ("fail_before", 503, 0), ("fail_after", 500, 1), ("refuse; status=403", 403, 0)],
)
def test_a_told_failure_applies_or_does_not(
    client: WorldClient, key: str, fault: str, status: int, effects: int
) -> None:
    assert post(client, key, fault=fault).status_code == status
    assert len(client.effects(key=key)) == effects
    assert post(client, key).status_code == 201
    assert len(client.effects(key=key)) == 1


def test_garbage_is_no_json_and_the_effect_is_there(client: WorldClient, key: str) -> None:
    answer = post(client, key, fault="garbage")
    with pytest.raises(ValueError, match=r"utf-8|Expecting|Invalid|Unterminated"):
        answer.json()
    assert len(client.effects(key=key)) == 1


def test_a_delayed_request_is_applied_although_its_sender_gave_up(client: WorldClient, key: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.http.post("/tickets", json=TICKET, headers=headers(key=key, fault="delay; seconds=3"), timeout=0.2)
    assert client.effects(key=key) == []
    assert post(client, key, attempt=2).json()["code"] == "key_in_use"
    assert len(soon(lambda: client.effects(key=key))) == 1


def test_a_late_request_arrives_after_a_resend_and_repeats_nothing_where_keys_are_kept(
    client: WorldClient, key: str
) -> None:
    late = client.arm("tickets", "apply_late", match={"key": key}, seconds=2.0)
    with pytest.raises(httpx.RemoteProtocolError):
        post(client, key)
    assert post(client, key, attempt=2).status_code == 201
    end = time.monotonic() + 10
    while not any(entry["what"].startswith("late: 201 replayed") for entry in client.fault(late.id).log):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert len(client.effects(key=key)) == 1


def test_a_late_payment_is_a_second_payment(client: WorldClient, key: str) -> None:
    order = {"payee": "x", "cents": 5}
    with pytest.raises(httpx.RemoteProtocolError):
        client.http.post("/payments", json=order, headers=headers(key=key, fault="apply_late; seconds=0.3"))
    client.http.post("/payments", json=order, headers=headers(key=key, attempt=2))
    assert soon(lambda: [effect for effect in client.effects(key=key) if effect.late])
    assert len(client.effects(key=key)) == 2


def test_a_late_change_of_an_old_version_is_not_applied(client: WorldClient, key: str) -> None:
    seen = client.http.get("/config/edge-proxy").json()["version"]
    late = client.arm("config", "apply_late", match={"key": key}, seconds=2.0, answer="error")
    marked = headers(key=key, idempotent=False) | {"If-Match": seen}
    body = {"set": {"rate_limit.burst": 99}}
    assert client.http.post("/config/edge-proxy", json=body, headers=marked).status_code == 504
    assert client.http.post("/config/edge-proxy", json=body, headers=marked).status_code == 200
    end = time.monotonic() + 10
    while not any("412 changed_since" in entry["what"] for entry in client.fault(late.id).log):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert len(client.effects(key=key)) == 1


@pytest.mark.parametrize(("at", "before"), [("arrival", 0), ("before", 0), ("applied", 1)])
def test_a_held_request_waits_at_its_place(client: WorldClient, key: str, at: str, before: int) -> None:
    hold = client.arm("tickets", "hold", match={"key": key}, at=at)
    answers: list[int] = []
    sender = threading.Thread(target=lambda: answers.append(post(client, key).status_code))
    sender.start()
    assert client.wait_reached(hold.id).parked == 1
    assert len(client.effects(key=key)) == before
    assert answers == []
    client.release(hold.id)
    sender.join(10)
    assert answers == [201]
    assert len(client.effects(key=key)) == 1
    assert [entry["what"] for entry in client.fault(hold.id).log] == ["fired", "reached", "released"]


def test_a_held_request_can_be_cut(client: WorldClient, key: str) -> None:
    hold = client.arm("tickets", "hold", match={"key": key}, at="applied")
    failures: list[Exception] = []

    def send_it() -> None:
        try:
            post(client, key)
        except httpx.RemoteProtocolError as error:
            failures.append(error)

    sender = threading.Thread(target=send_it)
    sender.start()
    client.wait_reached(hold.id)
    client.release(hold.id, then="cut")
    sender.join(10)
    assert len(failures) == 1
    assert len(client.effects(key=key)) == 1


def test_a_hold_that_nobody_releases_ends_by_itself(client: WorldClient, key: str) -> None:
    client.arm("tickets", "hold", match={"key": key}, seconds=0.1)
    assert post(client, key).status_code == 201
    with pytest.raises(TimeoutError):
        client.wait_reached(client.arm("tickets", "hold", match={"key": "nobody"}).id, seconds=0.1)


def test_a_slow_answer_comes_in_pieces(client: WorldClient, key: str) -> None:
    began = time.monotonic()
    answer = post(client, key, fault="slow; seconds=0.4")
    assert time.monotonic() - began >= 0.4
    assert answer.json()["title"] == "Pool exhausted"


def test_a_plan_fires_at_the_nth_arrival_as_often_as_told(client: WorldClient, key: str) -> None:
    plan = client.arm("tickets", "refuse", match={"business_key": key, "nth": 2}, times=2)
    statuses = [post(client, f"{key}-{n}", business_key=key).status_code for n in range(4)]
    assert statuses == [201, 422, 422, 201]
    seen = client.fault(plan.id)
    assert (seen.fired, seen.armed) == (2, False)


def test_a_plan_without_an_operation_leaves_reads_alone(client: WorldClient, key: str) -> None:
    client.arm("tickets", "fail_before", match={"key": key})
    assert client.http.get("/tickets", params={"key": key}, headers=headers(key=key)).status_code == 200
    assert post(client, key).status_code == 503


def test_a_lookup_can_be_told_to_see_nothing(client: WorldClient, world: World, key: str) -> None:
    post(client, key)
    send(world, key)
    client.arm("tickets", "hide", match={"operation": "lookup"})
    client.arm("mail", "hide", match={"operation": "lookup"})
    for _ in range(1):
        assert client.http.get("/tickets", params={"key": key}).json()["tickets"] == []
        assert client.http.get("/mail", params={"message_id": f"{key}@h.test"}).json()["count"] == 0
    assert len(client.http.get("/tickets", params={"key": key}).json()["tickets"]) == 1


def test_a_planted_effect_is_there_and_marked(client: WorldClient, world: World, key: str) -> None:
    post(client, key, fault="plant")
    send(world, f"{key}-m", fault="plant")
    marked = headers(key=f"{key}-c", fault="plant", idempotent=False)
    client.http.post("/config/edge-proxy", json={"set": {"rate_limit.burst": 90}}, headers=marked)
    for name in (key, f"{key}-m", f"{key}-c"):
        assert [effect.planted for effect in client.effects(key=name)] == [False, True]
    assert len(client.http.get("/tickets", params={"key": key}).json()["tickets"]) == 2
    assert len(client.http.get("/config/log", params={"key": f"{key}-c"}).json()["commits"]) == 2
    assert not {key, f"{key}-m", f"{key}-c"} & {group["value"] for group in client.state()["repetitions"]}


@pytest.mark.parametrize(
    ("fault", "error", "effects"),
    [
        ("lose_answer", smtplib.SMTPServerDisconnected, 1),
        ("refuse", smtplib.SMTPDataError, 0),
        ("fail_before", smtplib.SMTPDataError, 0),
        ("fail_after", smtplib.SMTPDataError, 1),
        ("garbage", smtplib.SMTPDataError, 1),
    ],
)
def test_smtp_fails_as_told(
    client: WorldClient, world: World, key: str, fault: str, error: type[Exception], effects: int
) -> None:
    with pytest.raises(error):
        send(world, key, fault)
    assert len(client.effects(key=key)) == effects
    assert client.http.get("/mail", params={"message_id": f"{key}@h.test"}).json()["count"] == effects


def test_a_refusal_over_smtp_is_definite_and_a_failure_is_not(world: World, key: str) -> None:
    codes = {}
    for fault in ("refuse", "fail_after"):
        with pytest.raises(smtplib.SMTPDataError) as answer:
            send(world, f"{key}-{fault}", fault)
        codes[fault] = answer.value.smtp_code
    assert codes == {"refuse": 550, "fail_after": 451}


def test_a_mail_in_flight_is_kept_although_its_sender_went_away(client: WorldClient, world: World, key: str) -> None:
    hold = client.arm("mail", "hold", match={"key": key}, at="before")
    sender = smtplib.SMTP(*world.smtp, timeout=10)
    sender.ehlo()
    sender.mail("a@b.test")
    sender.rcpt("c@d.test")
    sender.putcmd("data")
    sender.getreply()
    assert sender.sock is not None
    sender.sock.sendall(f"Handrail-Key: {key}\r\nMessage-ID: <{key}@h.test>\r\n\r\nHi\r\n.\r\n".encode())
    client.wait_reached(hold.id)
    sender.sock.close()
    sender.close()
    assert client.effects(key=key) == []
    client.release(hold.id)
    assert len(soon(lambda: client.effects(key=key))) == 1


def test_mail_applied_late_is_kept_later(client: WorldClient, world: World, key: str) -> None:
    with pytest.raises(smtplib.SMTPServerDisconnected):
        send(world, key, "apply_late; seconds=2.0")
    assert client.effects(key=key) == []
    (effect,) = soon(lambda: client.effects(key=key))
    assert effect.late


@pytest.mark.parametrize(
    "plan",
    [
        {"system": "tickets", "fault": "explode"},
        {"system": "nowhere", "fault": "delay"},
        {"system": "tickets", "fault": "delay", "seconds": -1},
        {"system": "tickets", "fault": "delay", "match": {"colour": "red"}},
        {"system": "tickets", "fault": "hide"},
        {"fault": "delay"},
        [],
    ],
)
def test_an_unreadable_plan_is_refused_with_a_reason(client: WorldClient, plan: object) -> None:
    answer = client.http.post("/faults", json=plan)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["detail"]


def test_an_unreadable_header_is_refused_and_nothing_is_applied(client: WorldClient, key: str) -> None:
    assert post(client, key, fault="explode").json()["code"] == "bad_fault"
    assert client.http.get("/faults/999999").status_code == 404
    assert client.effects(key=key) == []
