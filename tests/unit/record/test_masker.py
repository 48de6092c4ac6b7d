"""Secrets never reach the record; what is no secret stays."""

import base64
import json
import re
import time
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_app.record.masker import MARK, Masker
from tasks_app.record.secret_shapes import is_secret_name
from tests.unit.record.values import anything, json_values

KNOWN = 'hunter2/"p&ss+wörd'
MASKER = Masker([KNOWN, "7391", "masked", ""], key=b"installation")
quiet = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SHAPED = {
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----",
    "aws": "AKIA" + "Q" * 16,
    "github": "ghp_" + "a1B2" * 9,
    "gitlab": "glpat-" + "x1" * 10,
    "slack": "xoxb-" + "123456789012-abc",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1",
    "model-key": "sk-ant-" + "api03-abcdefghijk",
    "google": "AIza" + "b" * 35,
    "npm": "npm_" + "c" * 36,
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
}


def text(value: str) -> str:
    return MASKER.text(value)


def whole(value: object) -> str:
    return json.dumps(MASKER.mask(value).value, ensure_ascii=False)


@pytest.mark.parametrize(
    "spelling",
    [
        KNOWN,
        quote(KNOWN, safe=""),
        json.dumps(KNOWN)[1:-1],
        json.dumps(KNOWN, ensure_ascii=False)[1:-1],
        "\0".join(KNOWN),
        base64.b64encode(KNOWN.encode()).decode(),
        base64.urlsafe_b64encode(KNOWN.encode()).decode(),
    ],
)
def test_a_known_secret_is_masked_in_every_spelling_and_inside_longer_text(spelling) -> None:
    for value in (spelling, f"before {spelling} after", f"{spelling}{spelling}"):
        masked = text(value)
        assert spelling.rstrip("=") not in masked
        assert MARK.search(masked)


def test_a_known_secret_is_found_in_base64_whatever_stands_before_it() -> None:
    for user in ("u", "us", "use", "user"):
        masked = text("Basic " + base64.b64encode(f"{user}:{KNOWN}!".encode()).decode())
        assert MARK.search(masked)
        assert KNOWN.encode() not in base64.b64decode(masked.split()[1].split("[")[0] + "==")


def test_a_short_known_secret_is_masked_only_where_it_is_the_whole_text() -> None:
    assert MARK.fullmatch(text("7391"))
    assert MASKER.mask({"pin": 7391}).value != {"pin": 7391}
    assert text("order 73915") == "order 73915"


@pytest.mark.parametrize(("kind", "secret"), SHAPED.items())
def test_a_secret_shaped_text_is_masked_and_its_surroundings_stay(kind, secret) -> None:
    assert re.fullmatch(rf"key: \[masked:{kind}:[0-9a-f]{{8}}\] ok", text(f"key: {secret} ok"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [masked:bearer:"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [masked:header:"),
        ("Set-Cookie: session=abcdef0123", "Set-Cookie: [masked:header:"),
        ("postgresql://app:s3cr:t@db/app", "postgresql://app:[masked:url:"),
        ("/page?user=1&access_token=abcdef99&x=1", "/page?user=1&access_token=[masked:field:"),
        ('{"api_key": "abc\\"def"}', '{"api_key": "[masked:field:'),
        ("-----BEGIN PRIVATE KEY-----\ncut off her", "[masked:pem:"),
    ],
)
def test_a_secret_is_masked_where_its_surroundings_give_it_away(before, after) -> None:
    assert text(before).startswith(after)
    assert text(text(before)) == text(before)


@pytest.mark.parametrize(
    "harmless",
    [
        "Bearer authentication is required",
        "The password: see the vault",
        "https://example.org/a:b/c@d",
        "mail ops@example.org",
        "max_tokens=4096",
        "password=${DB_PASSWORD}",
        "task-4711 disk-full risk_test_passed",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        '{"tokens": "12"}',
        "eyJust.a.word",
    ],
)
def test_ordinary_text_stays(harmless) -> None:
    assert text(harmless) == harmless


@pytest.mark.parametrize(
    "name",
    [
        *("password", "PASSWORD", "db_password", "userPassword2", "api_key", "X-Api-Key", "apiKey", "access.token"),
        *("Authorization", "Set-Cookie", "client secret", "private_key", "AWS_SECRET_ACCESS_KEY", "sessionId"),
    ],
)
def test_the_value_of_a_secret_named_field_is_masked(name) -> None:
    assert is_secret_name(name)
    assert MARK.fullmatch(MASKER.mask({name: "anything"}).value[name])
    assert MARK.fullmatch(MASKER.mask({name: ["anything"]}).value[name][0])
    assert MARK.fullmatch(MASKER.mask({name: {"value": 123}}).value[name]["value"])
    assert MARK.fullmatch(MASKER.mask({name: b"\xff\xfe"}).value[name])


@pytest.mark.parametrize("name", ["max_tokens", "token_count", "password_policy", "key", "author", "idempotency_key"])
def test_a_name_that_only_resembles_one_is_left_alone(name) -> None:
    assert MASKER.mask({name: "anything"}).value == {name: "anything"}


def test_absence_and_truth_are_no_secrets() -> None:
    value = {"password": None, "token": True, "secret": "", "cookie": [], "authorization": {}}
    assert MASKER.mask(value).value == value


def test_a_reference_to_a_credential_is_no_secret() -> None:
    value = {"token": {"$credential": "mail"}}
    assert MASKER.mask(value).value == value
    assert MASKER.mask({"token": {"$credential": "mail", "x": "y"}}).value != value


def test_equal_secrets_give_equal_marks_and_the_mark_depends_on_the_installation() -> None:
    masked = MASKER.mask({"password": SHAPED["github"], "log": f"used {SHAPED['github']} twice"}).value
    assert masked["log"] == f"used {masked['password']} twice"
    other = Masker(key=b"another").mask({"password": SHAPED["github"]}).value
    assert other["password"] != masked["password"]


def test_an_exempt_field_keeps_what_looks_like_a_secret_but_never_a_known_one() -> None:
    value = {"next_token": "page-2", "item": {"token": SHAPED["jwt"]}, "token": f"x {KNOWN}"}
    masked = MASKER.mask(value, frozenset({"next_token", "item.token", "token"})).value
    assert masked["next_token"] == "page-2"
    assert masked["item"]["token"] == SHAPED["jwt"]
    assert KNOWN not in masked["token"]


def test_an_exempt_path_does_not_exempt_the_same_name_elsewhere() -> None:
    value = {"items": [{"token": "aaaa"}], "token": "bbbb"}
    masked = MASKER.mask(value, frozenset({"items.token"}))
    assert masked.value["items"] == [{"token": "aaaa"}]
    assert MARK.fullmatch(masked.value["token"])
    assert masked.places == ("token",)


def test_the_places_are_named() -> None:
    assert MASKER.mask({"a": [{"password": "x"}], "b": KNOWN}).places == ("a[0].password", "b")


def test_a_secret_in_a_key_or_in_binary_content_is_masked() -> None:
    assert KNOWN not in whole({KNOWN: 1})
    masked = MASKER.mask(b"\xff" + KNOWN.encode() + b"\xfe").value
    assert isinstance(masked, bytes)
    assert KNOWN.encode() not in masked


def test_a_secret_that_only_a_surrogate_pair_spells_is_found() -> None:
    masker = Masker(["pass\U0001f600word"], key=b"k")
    assert masker.mask("pass\ud83d\ude00word").places == ("",)


def test_a_large_text_takes_time_in_proportion_to_its_size() -> None:
    for piece in ("eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "token=", '"token": "', "Bearer ", "a.b=", "AKIA"):
        started = time.perf_counter()
        text(piece * (1_000_000 // len(piece)))
        assert time.perf_counter() - started < 10, piece


@quiet
@given(value=anything)
def test_masking_never_raises_and_masking_again_changes_nothing(value) -> None:
    once = MASKER.mask(value).value
    again = MASKER.mask(once)
    assert again.places == ()


@quiet
@given(before=st.text(max_size=5), after=st.text(max_size=5), value=json_values)
def test_no_known_secret_is_left_anywhere(before, after, value) -> None:
    assert KNOWN not in MASKER.mask({"x": [before + KNOWN + after, value]}).value["x"][0]


@quiet
@given(pieces=st.lists(st.sampled_from([*SHAPED.values(), KNOWN, "7391", "x", " ", "=", '"', "a@b", "://", "\n"])))
def test_the_quick_look_never_overlooks_what_the_masker_would_change(pieces) -> None:
    value = "".join(pieces)
    if MASKER.text(value) != value:
        assert MASKER.may_change(json.dumps([value], ensure_ascii=False))
