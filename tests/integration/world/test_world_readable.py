"""Readable and opaque systems: git with a precondition, SMTP mail, payments that nobody can look up."""

import json
import mailbox
import smtplib
import subprocess

import pytest

from chaos_app.world.client import World, WorldClient, headers, mail_send


def change(
    client: WorldClient, service: str, key: str, *, match: str | None = None, **settings: object
) -> tuple[int, dict]:
    marked = headers(key=key, business_key=f"b-{key}", call=f"c-{key}", idempotent=False)
    answer = client.http.post(
        f"/config/{service}",
        json={"set": {name.replace("__", "."): value for name, value in settings.items()}, "summary": f"Change {key}"},
        headers=marked | ({"If-Match": match} if match else {}),
    )
    return answer.status_code, answer.json()


def test_a_change_is_a_real_commit_that_carries_the_marks(client: WorldClient, world: World, key: str) -> None:
    before = client.http.get("/config/checkout-api")
    version = before.json()["version"]
    assert before.headers["ETag"] == f'"{version}"'
    status, after = change(client, "checkout-api", key, match=version, database__pool_size=41)
    assert (status, after["previous"]) == (200, version)
    git = ["git", f"--git-dir={world.folder}/config.git"]
    body = subprocess.run(
        [*git, "show", "-s", "--format=%B", after["version"]], capture_output=True, text=True, check=True
    )
    assert f"Handrail-Key: {key}\n" in body.stdout
    assert f"Handrail-Business-Key: b-{key}\n" in body.stdout
    deployed = json.loads((world.folder / "config" / "services" / "checkout-api.json").read_text())
    assert deployed["database"]["pool_size"] == 41
    subprocess.run([*git, "fsck", "--strict"], capture_output=True, check=True)


def test_a_change_of_a_version_that_is_gone_is_refused(client: WorldClient, key: str) -> None:
    seen = client.http.get("/config/ledger-export").json()["version"]
    assert change(client, "ledger-export", f"{key}-a", match=seen, sftp__retries=4)[0] == 200
    status, refusal = change(client, "ledger-export", f"{key}-b", match=f'"{seen}"', sftp__retries=5)
    assert (status, refusal["code"]) == (412, "changed_since")
    assert refusal["version"] == client.http.get("/config/ledger-export").json()["version"]
    assert client.effects(key=f"{key}-b") == []


def test_a_change_of_another_service_does_not_touch_a_version(client: WorldClient, key: str) -> None:
    seen = client.http.get("/config/geo-pricing").json()["version"]
    change(client, "ledger-export", f"{key}-other", export__chunk_rows=10_000)
    assert change(client, "geo-pricing", key, match=seen, rates__ttl_seconds=3600)[0] == 200


def test_a_commit_is_found_by_exactly_its_key(client: WorldClient, key: str) -> None:
    change(client, "session-store", f"{key}-1", cache__ttl_seconds=1800)
    change(client, "session-store", f"{key}-11", cache__ttl_seconds=1801)
    found = client.http.get("/config/log", params={"key": f"{key}-1"}).json()
    assert [commit["key"] for commit in found["commits"]] == [f"{key}-1"]
    assert client.http.get("/config/log", params={"key": key}).json() == {"commits": [], "complete": True}


def test_configuration_does_not_dedup(client: WorldClient, key: str) -> None:
    for _ in range(2):
        change(client, "feature-flags", key, poll__interval_seconds=30)
    assert len(client.effects(key=key)) == 2
    assert [group["count"] for group in client.state()["repetitions"] if group["value"] == f"b-{key}"] == [2]


def test_an_unknown_setting_or_service_is_refused_with_its_name(client: WorldClient, key: str) -> None:
    status, refusal = change(client, "checkout-api", key, database__pol_size=1)
    assert (status, refusal["detail"]) == (422, "checkout-api has no setting database.pol_size.")
    assert client.http.get("/config/no-such").status_code == 404
    assert client.http.get("/config/A%20B").status_code == 400
    assert client.effects(key=key) == []


def test_a_commit_by_somebody_else_is_counted_and_reported(client: WorldClient, world: World, key: str) -> None:
    tree = world.folder / "other"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@y.test", "-C", str(tree)]
    subprocess.run(["git", "clone", "--quiet", f"{world.folder}/config.git", str(tree)], check=True)
    (tree / "services" / "edge-proxy.json").write_text("{}\n")
    message = f"By hand\n\nHandrail-Key: {key}\n"
    subprocess.run([*git, "commit", "--quiet", "-am", message], check=True)
    subprocess.run([*git, "push", "--quiet", "origin", "main"], check=True)
    (effect,) = client.effects(key=key)
    assert (effect.stored, effect.counted) == (True, False)
    assert any(key in text for text in client.ledger().disagreements)


def test_mail_is_kept_in_a_maildir_and_found_by_message_id(client: WorldClient, world: World, key: str) -> None:
    marks = headers(key=key, business_key=f"b-{key}", call="c", attempt=3, idempotent=False)
    mail_send(
        world.smtp,
        message_id=f"{key}@handrail.test",
        to="mara@oncall.test",
        subject="Größe",
        body="Zeile\n",
        marks=marks,
    )
    found = client.http.get("/mail", params={"message_id": f"<{key}@handrail.test>"}).json()
    assert found["count"] == 1
    message = found["messages"][0]
    assert (message["subject"], message["body"], message["attempt"]) == ("Größe", "Zeile", 3)
    box = mailbox.Maildir(str(world.folder / "mail"), create=False)
    assert f"{key}@handrail.test" in box[message["reference"]]["Message-ID"]
    (effect,) = client.effects(key=key)
    assert (effect.business_key, effect.arguments["to"]) == (f"b-{key}", ["mara@oncall.test"])


def test_a_second_copy_with_one_message_id_is_a_second_effect(client: WorldClient, world: World, key: str) -> None:
    for _ in range(2):
        mail_send(world.smtp, message_id=f"{key}@h.test", to="a@b.test", subject="s", body="b")
    assert client.http.get("/mail", params={"message_id": f"{key}@h.test"}).json()["count"] == 2
    assert len(client.effects(key=f"{key}@h.test")) == 2
    assert [group["count"] for group in client.state()["repetitions"] if group["value"] == f"{key}@h.test"] == [2]


def test_a_message_that_vanished_from_the_maildir_is_a_disagreement(
    client: WorldClient, world: World, key: str
) -> None:
    mail_send(world.smtp, message_id=f"{key}@h.test", to="a@b.test", subject="s", body="b")
    (effect,) = client.effects(key=f"{key}@h.test")
    (world.folder / "mail" / "new" / effect.reference).unlink()
    (after,) = client.effects(key=f"{key}@h.test")
    assert (after.stored, after.counted) == (False, True)
    assert any(key in text for text in client.ledger().disagreements)


def test_a_message_that_is_too_large_is_refused(client: WorldClient, world: World, key: str) -> None:
    with pytest.raises(smtplib.SMTPResponseException) as refused:
        mail_send(world.smtp, message_id=f"{key}@h.test", to="a@b.test", subject="s", body="line of text\n" * 400_000)
    assert refused.value.smtp_code == 552
    assert client.effects(key=f"{key}@h.test") == []


def test_a_payment_cannot_be_looked_up_and_happens_each_time(client: WorldClient, key: str) -> None:
    order = {"payee": "Brightcart GmbH", "cents": 48_000, "memo": "credit"}
    for attempt in (1, 2):
        client.http.post("/payments", json=order, headers=headers(key=key, business_key=key, attempt=attempt))
    assert len(client.effects(key=key)) == 2
    assert client.http.get("/payments").status_code == 405
    assert client.http.get("/payments/P-1").status_code == 404
    assert [group["count"] for group in client.state()["repetitions"] if group["value"] == key] == [2]
