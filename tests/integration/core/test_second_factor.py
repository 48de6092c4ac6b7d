"""A second factor is set up, shown, and its moment reaches a decision that wants it fresh."""

import time
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.sealed_factors import Factors, factors_reseal
from core.step_up import METHODS
from tasks_app.credentials.keys import CannotOpen, key_new
from tests.people import People


@pytest.fixture
def rhea(people: People) -> Client:
    client = Client()
    client.force_login(people.rhea)
    return client


def code(secret: str, *, steps: int = 0) -> str:
    """Return the code of this half minute, or of one so many before it."""
    counters = sorted(yield_hotp_counters_from_time())
    return format_hotp_value(hotp_value(secret, counters[len(counters) // 2] - steps))


def with_totp(user: User) -> str:
    secret = generate_totp_secret()
    TOTP.activate(user, secret)
    return secret


def factor(user: User, kind: str) -> Authenticator:
    return Authenticator.objects.get(user=user, type=kind)


def test_who_has_no_factor_is_led_to_set_one_up_and_needs_their_password_for_it(rhea: Client) -> None:
    led = rhea.get(reverse("step-up"), {"next": "/approvals/"})
    assert led["Location"] == reverse("mfa_index")
    assert rhea.get(reverse("mfa_index")).status_code == 200
    asked = rhea.get(reverse("mfa_activate_totp"))
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    page = rhea.get(asked["Location"])
    assert page.status_code == 200
    confirmed = rhea.post(asked["Location"], {"password": "correct horse battery"})
    assert confirmed["Location"] == reverse("mfa_activate_totp")
    assert "data:image/svg+xml" in rhea.get(reverse("mfa_activate_totp")).content.decode()


def test_a_one_time_code_that_is_shown_is_the_moment_of_the_step_up(people: People, rhea: Client) -> None:
    secret = with_totp(people.rhea)
    led = rhea.get(reverse("step-up"), {"next": "/approvals/x/"})
    assert led["Location"].startswith(reverse("mfa_reauthenticate"))
    assert rhea.get(led["Location"]).status_code == 200
    assert METHODS not in rhea.session
    rhea.post(led["Location"], {"code": "000000"})
    assert METHODS not in rhea.session
    shown = rhea.post(led["Location"], {"code": code(secret), "next": "/approvals/x/"})
    assert shown["Location"] == "/approvals/x/"
    (record,) = rhea.session[METHODS]
    assert (record["method"], record["type"]) == ("mfa", "totp")
    assert abs(record["at"] - time.time()) < 60


@pytest.mark.parametrize(("steps", "is_taken"), [(1, True), (2, False)])
def test_a_code_is_taken_as_its_half_minute_ends_and_not_later(
    people: People, rhea: Client, monkeypatch: pytest.MonkeyPatch, steps: int, is_taken: bool
) -> None:
    now = time.time()
    monkeypatch.setattr(auth, "time", SimpleNamespace(time=lambda: now))
    secret = with_totp(people.rhea)
    rhea.post(reverse("mfa_reauthenticate"), {"code": code(secret, steps=steps), "next": "/"})
    assert (METHODS in rhea.session) == is_taken


def test_each_page_of_second_factors_opens_also_with_factors_set_up(people: People, rhea: Client) -> None:
    secret = with_totp(people.rhea)
    RecoveryCodes.activate(people.rhea)
    seen = {"name": "blue key", "credential": {"id": "x"}}
    passkey = Authenticator.objects.create(user=people.rhea, type="webauthn", data=seen, last_used_at=timezone.now())
    rhea.post(reverse("mfa_reauthenticate"), {"code": code(secret), "next": "/"})
    for page in ("mfa_index", "mfa_list_webauthn", "mfa_view_recovery_codes", "mfa_deactivate_totp"):
        assert rhea.get(reverse(page)).status_code == 200, page
    for page in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        assert rhea.get(reverse(page, args=[passkey.pk])).status_code == 200, page
    assert "blue key" in rhea.get(reverse("mfa_list_webauthn")).content.decode()


def test_a_next_address_elsewhere_is_not_followed(people: People, rhea: Client) -> None:
    with_totp(people.rhea)
    led = rhea.get(reverse("step-up"), {"next": "https://evil.test/"})
    assert led["Location"].endswith("next=%2F")


def test_what_makes_codes_is_kept_sealed_and_opens_with_keys_that_are_changed_in_turn(people: People, settings) -> None:
    old, new = key_new(), key_new()
    settings.HANDRAIL_CREDENTIAL_KEYS = [old]
    secret = with_totp(people.rhea)
    RecoveryCodes.activate(people.rhea)
    codes = RecoveryCodes(factor(people.rhea, "recovery_codes")).generate_codes()
    assert secret not in str(list(Authenticator.objects.values_list("data", flat=True)))
    settings.HANDRAIL_CREDENTIAL_KEYS = [new, old]
    assert factors_reseal() == 2
    settings.HANDRAIL_CREDENTIAL_KEYS = [new]
    assert TOTP(factor(people.rhea, "totp")).validate_code(code(secret))
    assert RecoveryCodes(factor(people.rhea, "recovery_codes")).generate_codes() == codes
    settings.HANDRAIL_CREDENTIAL_KEYS = [old]
    with pytest.raises(CannotOpen):
        TOTP(factor(people.rhea, "totp")).validate_code(code(secret))


def test_a_factor_that_was_kept_unsealed_works_on_and_is_sealed_with_the_next_change_of_keys(people: People) -> None:
    secret = generate_totp_secret()
    Authenticator.objects.create(user=people.rhea, type="totp", data={"secret": secret})
    passkey = Authenticator.objects.create(user=people.rhea, type="webauthn", data={"name": "key"})
    assert TOTP(factor(people.rhea, "totp")).validate_code(code(secret))
    assert factors_reseal() == 1
    sealed = factor(people.rhea, "totp").data["secret"]
    assert secret not in sealed
    assert Factors().decrypt(sealed) == secret
    passkey.refresh_from_db()
    assert passkey.data == {"name": "key"}


def test_nobody_signs_up(client: Client) -> None:
    for path in ("/second-factor/signup/", "/accounts/signup/", "/second-factor/webauthn/signup/"):
        assert client.get(path).status_code == 404
