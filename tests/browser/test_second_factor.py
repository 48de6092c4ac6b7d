"""A passkey in a real browser: registered with a virtual authenticator, shown again for a high-risk approval."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from playwright.sync_api import BrowserContext, Page, expect

from approvals_app.models import ApprovalAnswer, ApprovalRequest
from tests.browser.axe import axe_clean
from tests.browser.conftest import heard, listen
from tests.desk import PAY, Desk, desk_create, parked, rule

Opens = Callable[..., BrowserContext]


PASSWORD = "correct horse battery"


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    """A desk whose rhea has a password that the web process can check: it does not know the tests' quick hash."""
    made = desk_create()
    hasher = PBKDF2PasswordHasher()
    made.rhea.password = hasher.encode(PASSWORD, hasher.salt())
    made.rhea.save()
    return made


def with_authenticator(page: Page) -> None:
    """Give the page's browser a passkey device that verifies its user by itself."""
    devtools: Any = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True}
    options |= {"hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def confirm_password(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def test_a_passkey_is_registered_and_shown_again_for_a_high_risk_approval(desk: Desk, signed_in: Opens):
    rule(desk, "careful", "risk == 'high'", step_up_within=60.0)
    request = parked(desk, PAY, name="pay")
    page, seen = signed_in(desk.rhea).new_page(), list[str]()
    listen(page, seen)
    with_authenticator(page)

    page.goto(f"/approvals/{request.pk}/")
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two-factor authentication")
    assert ApprovalAnswer.objects.count() == 0
    axe_clean(page)

    page.get_by_role("link", name="Add", exact=True).click()
    confirm_password(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Add security key")
    axe_clean(page)
    heard(page).get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(re.compile("recovery-codes|webauthn/?$"))
    expect(page.locator("main")).to_contain_text(re.compile("recovery codes|Laptop", re.IGNORECASE))
    assert Authenticator.objects.filter(user=desk.rhea, type=Authenticator.Type.WEBAUTHN).count() == 1
    axe_clean(page)

    page.goto(f"/approvals/{request.pk}/")
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm access")
    axe_clean(page)
    heard(page).get_by_role("button", name="Use a security key").click()
    page.wait_for_url(f"**/approvals/{request.pk}/")
    assert ApprovalAnswer.objects.count() == 0  # showing a factor decides nothing
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(page.locator(f"#card-state-{request.pk}")).to_contain_text("Approved")
    assert ApprovalRequest.objects.get(pk=request.pk).status == "approved"
    assert seen == []


@pytest.mark.parametrize("address", ["/second-factor/", "/second-factor/password/", "/second-factor/totp/activate/"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_the_second_factor_are_in_the_common_frame(
    desk: Desk, signed_in: Opens, address: str, scheme: str
):
    page = signed_in(desk.rhea, color_scheme=scheme).new_page()
    page.goto(address)
    if "activate" in address:
        confirm_password(page)
        expect(page.get_by_label("Authenticator secret")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^[A-Z][^A-Z]*$"))
    axe_clean(page)
