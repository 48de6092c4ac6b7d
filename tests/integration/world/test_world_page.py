"""The world's page and its guards: complete without scripts, inert, honest about what happened twice."""

import re

from chaos_app.world.client import World, WorldClient, headers, mail_send


def test_the_page_shows_what_is_there_and_marks_what_happened_twice(
    client: WorldClient, world: World, key: str
) -> None:
    assert "✓" in client.http.get("/").text or "✗" in client.http.get("/").text
    for attempt in (1, 2):
        client.http.post(
            "/payments",
            json={"payee": f"Payee {key}", "cents": 48_000},
            headers=headers(business_key=key, attempt=attempt),
        )
    mail_send(world.smtp, message_id=f"{key}@h.test", to="a@b.test", subject=f"Subject {key}", body="b")
    body = {"set": {"rate_limit.burst": 123}, "summary": f"Summary {key}"}
    client.http.post("/config/edge-proxy", json=body, headers=headers(key=key, idempotent=False))
    html = client.http.get("/").text
    assert html.count(f"✗ happened twice for {key}") == 2
    assert f"EUR 480.00 to Payee {key}" in html
    assert f"Subject {key}" in html
    assert f"Summary {key}" in html
    assert '<code class="added">+    &quot;burst&quot;: 123,</code>' in html
    assert re.search(r"<title>\(\d+ repeated\) The outside world</title>", html)


def test_text_from_outside_is_inert_and_visible(client: WorldClient, key: str) -> None:
    nasty = f"<script>alert('{key}')</script>\u202egnp"
    client.http.post("/payments", json={"payee": nasty, "cents": 1})
    answer = client.http.get("/")
    assert "<script" not in answer.text
    assert f"&lt;script&gt;alert(&#x27;{key}&#x27;)&lt;/script&gt;[U+202E]gnp" in answer.text
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'")
    assert "style=" not in answer.text
    for path in ("/page.css", "/icon.svg"):
        assert client.http.get(path).status_code == 200


def test_the_page_refreshes_itself_only_when_asked(client: WorldClient) -> None:
    assert 'http-equiv="refresh"' not in client.http.get("/").text
    assert '<meta http-equiv="refresh" content="2">' in client.http.get("/?live=1").text


def test_foreign_pages_and_hosts_are_refused(client: WorldClient, key: str) -> None:
    ticket = {"title": "t"}
    foreign = client.http.post("/tickets", json=ticket, headers=headers(key=key) | {"Origin": "https://evil.test"})
    rebound = client.http.get("/ledger", headers={"Host": "evil.test"})
    own = client.http.get("/ledger", headers={"Origin": client.url})
    assert (foreign.status_code, rebound.status_code, own.status_code) == (403, 403, 200)
    assert client.effects(key=key) == []


def test_unreadable_requests_get_a_clear_refusal(client: WorldClient) -> None:
    json_type = {"Content-Type": "application/json"}
    cases = {
        "not_json": client.http.post("/tickets", content=b"{", headers=json_type),
        "invalid": client.http.post("/tickets", content=b"[1]", headers=json_type),
        "too_large": client.http.post("/tickets", content=b" " * (4 * 1024 * 1024 + 1), headers=json_type),
        "bad_header": client.http.post("/tickets", json={"title": "t"}, headers={"Handrail-Attempt": "first"}),
        "http": client.http.get("/nowhere"),
    }
    assert {name: answer.json()["code"] for name, answer in cases.items()} == {name: name for name in cases}
    assert [answer.status_code for answer in cases.values()] == [400, 400, 413, 400, 404]
    constant = client.http.post("/jobs", content=b'{"kind": "x", "seconds": NaN}', headers=json_type)
    assert constant.json()["code"] == "not_json"
    assert client.http.get("/ledger?since=yesterday").status_code == 400


def test_the_ledger_is_filtered(client: WorldClient, key: str) -> None:
    for number in range(3):
        client.http.post("/payments", json={"payee": "x", "cents": 1}, headers=headers(key=f"{key}-{number}", call=key))
    client.http.post("/tickets", json={"title": "t"}, headers=headers(key=key, call=key))
    whole = client.ledger(call=key)
    assert (len(whole.arrivals), len(whole.effects)) == (4, 4)
    assert len(client.effects(call=key, system="payments")) == 3
    assert len(client.ledger(call=key, limit=2).arrivals) == 2
    assert len(client.ledger(call=key, after=whole.arrivals[1].id).arrivals) == 2
    assert len(client.effects(call=key, since=whole.effects[2].at)) == 2
    applied = [arrival.applied_at for arrival in whole.arrivals]
    assert applied == [effect.at for effect in whole.effects]
