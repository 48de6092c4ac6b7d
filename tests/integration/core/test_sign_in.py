"""Who gets in, and how: by password, or once by a link of this machine."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from core.embedded.address import pages_file
from core.models import SignInLink
from core.one_time import pages_url, sign_in_link_create, sign_in_link_use
from tests.locks import locks_awaited
from tests.processes import wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> Any:
    return get_user_model().objects.create_user("olivia", password="correct horse battery")


@pytest.fixture
def link(user: Any) -> str:
    return urlsplit(sign_in_link_create(user=user)).path


@pytest.fixture
def here() -> Client:
    return Client(headers={"host": "localhost:8000"})


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_name_and_password_sign_in_with_a_new_session_key(user: Any) -> None:
    client = Client()
    session = client.session
    session["kept"] = True
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = before
    answer = client.post("/sign-in/", {"username": "olivia", "password": "correct horse battery"})
    assert answer.status_code == 302
    assert signed_in(client)
    assert client.session.session_key != before


def test_a_wrong_password_says_so_without_saying_which_part(user: Any) -> None:
    client = Client()
    answer = client.post("/sign-in/", {"username": "olivia", "password": "wrong"})
    assert "do not match an active account" in answer.text
    assert not signed_in(client)


def test_signing_in_never_leads_to_another_site(user: Any) -> None:
    given = {"username": "olivia", "password": "correct horse battery", "next": "https://elsewhere.example/"}
    assert Client().post("/sign-in/", given)["location"] == "/"


def test_only_a_post_signs_out(user: Any) -> None:
    client = Client()
    client.force_login(user)
    assert client.get("/sign-out/").status_code == 405
    assert signed_in(client)
    assert client.post("/sign-out/").status_code == 302
    assert not signed_in(client)


def test_a_get_of_a_link_shows_a_button_and_uses_nothing_up(here: Client, link: str) -> None:
    assert "Sign in as olivia" in here.get(link).text
    assert "Sign in as olivia" in here.get(link).text
    assert not signed_in(here)


def test_a_post_signs_in_once(here: Client, link: str) -> None:
    assert here.post(link).status_code == 302
    assert signed_in(here)
    again = Client(headers={"host": "localhost"})
    assert again.post(link).status_code == 410
    assert again.get(link).status_code == 410
    assert not signed_in(again)


def test_a_link_stops_working_after_a_quarter_of_an_hour(here: Client, link: str) -> None:
    assert SignInLink.objects.filter(expires_at__lte=timezone.now() + timedelta(minutes=15)).exists()
    SignInLink.objects.update(expires_at=timezone.now())
    assert here.post(link).status_code == 410
    assert not signed_in(here)


def test_a_link_of_somebody_who_may_no_longer_sign_in_is_dead(here: Client, user: Any, link: str) -> None:
    user.is_active = False
    user.save()
    assert here.post(link).status_code == 410


@pytest.mark.parametrize(
    "sign",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
    ],
)
def test_a_link_is_refused_from_elsewhere_and_stays_good(here: Client, link: str, sign: dict[str, str]) -> None:
    answer = here.post(link, **sign)  # type: ignore[arg-type]
    assert answer.status_code == 403
    assert "only in a browser on the machine" in answer.text
    assert not signed_in(here)
    assert here.post(link).status_code == 302


def test_a_foreign_name_for_this_machine_is_refused(link: str, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["rebound.example"]
    assert Client(headers={"host": "rebound.example"}).post(link).status_code == 403


def test_a_link_needs_the_mark_of_its_own_page(link: str) -> None:
    client = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    answer = client.post(link)
    assert answer.status_code == 403
    assert "The form has expired" in answer.text
    assert SignInLink.objects.get().used_at is None


def test_the_token_itself_is_not_stored(link: str) -> None:
    token = link.rstrip("/").rpartition("/")[2]
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(l)::text FROM core_signinlink l")
        assert token not in cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_of_many_who_press_at_once_one_gets_in(user: Any) -> None:
    token = sign_in_link_create(user=user).rstrip("/").rpartition("/")[2]

    def press(_: int) -> bool:
        try:
            return sign_in_link_use(token=token) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        with transaction.atomic():  # all have found the link unused, and wait for its row, before any may use it
            SignInLink.objects.select_for_update().get()
            pressed = [pool.submit(press, number) for number in range(4)]
            wait_for(lambda: locks_awaited() == 4, what="all four to wait for the row")
        assert sum(press.result() for press in pressed) == 1


def test_the_command_prints_a_link_that_works(here: Client, user: Any) -> None:
    out = StringIO()
    call_command("sign_in_link", "olivia", stdout=out)
    assert here.post(urlsplit(out.getvalue().strip()).path).status_code == 302


def test_the_command_says_what_to_do_where_there_is_no_such_user() -> None:
    with pytest.raises(CommandError, match=r"no active user named 'nobody'.*createsuperuser"):
        call_command("sign_in_link", "nobody")


def test_a_link_leads_to_the_pages_that_run_here(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR, settings.PUBLIC_URL = tmp_path, "http://localhost:8000"
    monkeypatch.delenv("PUBLIC_URL", raising=False)
    assert pages_url() == "http://localhost:8000"
    pages_file(tmp_path).write_text("http://localhost:8021")
    assert pages_url() == "http://localhost:8021"
    monkeypatch.setenv("PUBLIC_URL", "https://handrail.example")
    settings.PUBLIC_URL = "https://handrail.example"
    assert pages_url() == "https://handrail.example"


def test_after_five_wrong_passwords_the_right_one_is_not_looked_at_either(user: Any) -> None:
    client = Client()
    right, wrong = "correct horse battery", "wrong"
    given = [wrong, right, wrong, wrong, wrong, wrong]  # what succeeds does not count, and does not forgive
    for password in given:
        assert client.post("/sign-in/", {"username": "olivia", "password": password}).status_code in {200, 302}
        client.logout()
    refused = client.post("/sign-in/", {"username": "olivia", "password": right})
    assert (refused.status_code, refused["Retry-After"]) == (429, "300")
    assert "Too many wrong passwords" in refused.text
    assert not signed_in(client)


def test_wrong_passwords_of_many_names_from_one_address_are_limited(db: None) -> None:
    answers = [
        Client().post("/sign-in/", {"username": f"u{n}", "password": "wrong"}, REMOTE_ADDR="192.0.2.1").status_code
        for n in range(21)
    ]
    assert answers == [200] * 20 + [429]
    assert Client().post("/sign-in/", {"username": "u0", "password": "wrong"}).status_code == 200


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_saw(settings: Any, db: None) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for n in range(20):
        claimed = {"X-Forwarded-For": f"198.51.100.{n}, 192.0.2.1"}  # the first is whatever the sender claims
        Client().post("/sign-in/", {"username": f"u{n}", "password": "wrong"}, headers=claimed)
    claimed = {"X-Forwarded-For": "198.51.100.99, 192.0.2.1"}
    assert Client().post("/sign-in/", {"username": "x", "password": "wrong"}, headers=claimed).status_code == 429


def test_the_console_has_no_sign_in_of_its_own(user: Any) -> None:
    client = Client()
    answer = client.get("/admin/login/", {"next": "/admin/"})
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=%2Fadmin%2F")
    client.force_login(user)
    assert client.get("/admin/", follow=True).status_code == 403
