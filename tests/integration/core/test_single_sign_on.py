"""Signing in with an OpenID Connect provider: a real provider process, and who gets in over it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.test import Client
from django.urls import clear_url_caches, set_urlconf

from core.port import free
from tests.processes import wait_for

pytestmark = pytest.mark.django_db
PEOPLE = [
    {"sub": "7001", "email": "olivia@example.org", "email_verified": True},
    {"sub": "7002", "email": "olivia@example.org", "email_verified": False},
    {"sub": "7003", "email": "nobody@example.org", "email_verified": True},
]


@dataclass
class Provider:
    url: str

    def answer(self, address: str, sub: str) -> str:
        """Be the person at the provider's own page; return where it sends the browser."""
        with httpx.Client(base_url=self.url) as browser:
            assert browser.get(address).status_code == 200
            return browser.post(address, data={"sub": sub}).headers["Location"]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    number = free(0)
    people = [part for one in PEOPLE for part in ("--user-claims", json.dumps(one))]
    log = tmp_path_factory.mktemp("provider") / "log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(number), *people]
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        url = f"http://localhost:{number}"
        wait_for(lambda: _answers(url) or process.poll() is not None, what="the provider")
        yield Provider(url)
    finally:
        process.terminate()
        process.wait(10)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/openid-configuration").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def site(provider: Provider, settings: Any) -> Iterator[Client]:
    """The site with the provider set: its addresses are made of the settings."""
    settings.HANDRAIL_OIDC_ISSUER = provider.url
    settings.HANDRAIL_OIDC_NAME = "Example login"
    (app,) = [
        {
            "provider_id": "oidc",
            "name": "Example login",
            "client_id": "handrail",
            "secret": "s" * 40,
            "settings": {"server_url": provider.url},
        }
    ]
    kept = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": kept | {"APPS": [app]}}
    settings.ROOT_URLCONF = "tests.integration.core.addresses_with_provider"
    clear_url_caches()
    yield Client(headers={"host": "localhost"})
    set_urlconf(None)
    clear_url_caches()


@pytest.fixture
def olivia() -> User:
    return User.objects.create_user("olivia", email="olivia@example.org", password="correct horse battery")


def come_back(site: Client, provider: Provider, sub: str, *, following: str = "/tasks/") -> Any:
    """Go the whole way: our page, the provider's page, and back."""
    page = site.get("/sign-in/", {"next": following}).content.decode()
    link = re.search(r'href="(/sign-in/with/oidc/login/[^"]*)"', page)
    assert link is not None
    away = site.get(link[1].replace("&amp;", "&"))
    assert away.status_code == 302
    assert "code_challenge=" in away["Location"]
    back = urlsplit(provider.answer(away["Location"], sub))
    assert back.path == "/sign-in/with/oidc/login/callback/"
    return site.get(f"{back.path}?{back.query}")


def test_a_known_person_is_signed_in_and_led_on(site: Client, provider: Provider, olivia: User):
    answer = come_back(site, provider, "7001", following="/approvals/")
    assert (answer.status_code, answer["Location"]) == (302, "/approvals/")
    assert site.session["_auth_user_id"] == str(olivia.pk)
    assert SocialAccount.objects.get().uid == "7001"


def test_from_then_on_the_providers_id_counts_and_not_the_address(site: Client, provider: Provider, olivia: User):
    come_back(site, provider, "7001")
    User.objects.filter(pk=olivia.pk).update(email="other@example.org")
    again = Client(headers={"host": "localhost"})
    assert come_back(again, provider, "7001").status_code == 302
    assert again.session["_auth_user_id"] == str(olivia.pk)


@pytest.mark.parametrize("sub", ["7002", "7003"])
def test_an_address_that_is_unverified_or_unknown_lets_nobody_in(
    site: Client, provider: Provider, olivia: User, sub: str
):
    answer = come_back(site, provider, sub)
    assert answer.status_code == 403
    assert "no account here has this e-mail address" in answer.content.decode()
    assert "_auth_user_id" not in site.session
    assert (User.objects.count(), SocialAccount.objects.count()) == (1, 0)


def test_a_closed_account_is_not_opened_by_the_provider(site: Client, provider: Provider, olivia: User):
    User.objects.filter(pk=olivia.pk).update(is_active=False)
    assert come_back(site, provider, "7001").status_code == 403
    assert "_auth_user_id" not in site.session


def test_an_answer_that_was_not_asked_for_is_refused(site: Client, olivia: User):
    answer = site.get("/sign-in/with/oidc/login/callback/", {"code": "x", "state": "made-up"})
    assert answer.status_code == 403
    assert "_auth_user_id" not in site.session


def test_without_a_provider_there_is_no_such_way(client: Client, db: None):
    assert client.get("/sign-in/with/oidc/login/").status_code == 404
    assert "Sign in with" not in client.get("/sign-in/").content.decode()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"HANDRAIL_OIDC_ISSUER": "https://login.example"}, {"core.E012"}),
        ({"HANDRAIL_OIDC_ISSUER": "http://login.example"}, {"core.E012", "core.E013"}),
        ({"HANDRAIL_OIDC_CLIENT_ID": "h", "HANDRAIL_OIDC_CLIENT_SECRET": "s"}, set()),
    ],
)
def test_half_a_provider_is_named(settings: Any, changes: dict[str, str], expected: set[str]):
    for name, value in changes.items():
        setattr(settings, name, value)
    assert {message.id for message in run_checks() if message.id in {"core.E012", "core.E013"}} == expected
