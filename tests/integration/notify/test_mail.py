"""E-mail through a real mail server in a process of its own."""

import mailbox
import smtplib
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from approvals_app.notify.models import Delivery
from core.port import free
from tests.channels import channel, route, told
from tests.desk import Desk, parked
from tests.processes import running, wait_for


@pytest.fixture
def mail(tmp_path: Path, settings, child_environment):
    """The folder that a mail server fills, with Django speaking to it."""
    box = tmp_path / "mail"
    with ExitStack() as stack:
        port = serve(stack, box, child_environment)
        settings.EMAIL_URL = f"smtp://127.0.0.1:{port}"
        settings.MAILERS = {
            "default": {
                "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
                "OPTIONS": {"host": "127.0.0.1", "port": port, "timeout": 10},
            }
        }
        yield box


def serve(stack: ExitStack, box: Path, environment: dict[str, str]) -> int:
    """Start a mail server; on another port where somebody was quicker than it."""
    log = box.with_name("smtp.log")
    for _ in range(5):
        port = free(0)
        command = ("-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}", "-c", "aiosmtpd.handlers.Mailbox", str(box))
        process = stack.enter_context(running(*command, env=environment, log=log))
        wait_for(lambda p=process, at=port: p.poll() is not None or greets(at), seconds=60, what="the mail server")
        if process.poll() is None:
            return port
    raise AssertionError(log.read_text())


def greets(port: int) -> bool:
    with suppress(OSError), smtplib.SMTP("127.0.0.1", port, timeout=10):
        return True
    return False


def test_whoever_may_decide_gets_a_mail_with_a_link_and_an_id_that_stays(desk: Desk, mail: Path, settings):
    settings.PUBLIC_URL = "https://handrail.example"
    desk.rhea.email = "rhea@example.com"
    desk.rhea.save()
    route(channel(desk.workspace, "people"))
    request = parked(desk)
    (delivery,) = told()
    assert delivery.state == "sent", delivery.log
    (got,) = mailbox.Maildir(mail)
    assert got["To"] == "rhea@example.com"
    assert got["Subject"] == "Approval needed: desk.clean of desk.agent"
    assert str(delivery.pk) in got["Message-ID"]
    text = got.get_payload(decode=True).decode()
    assert f"https://handrail.example/approvals/{request.pk}/" in text
    assert "/scratch/a" not in text


def test_fixed_addresses_get_one_mail_each(desk: Desk, mail: Path):
    route(channel(desk.workspace, "email", "ops@example.com, night@example.com"))
    parked(desk)
    assert [one.state for one in told()] == ["sent", "sent"]
    assert {got["To"] for got in mailbox.Maildir(mail)} == {"ops@example.com", "night@example.com"}


def test_a_mail_server_that_is_away_is_tried_again(desk: Desk, settings, mail: Path):
    settings.MAILERS["default"]["OPTIONS"]["port"] = 9  # nobody listens
    route(channel(desk.workspace, "email", "ops@example.com"))
    parked(desk)
    (delivery,) = told()
    assert (delivery.state, delivery.tries) == ("waiting", 1)
    assert "ConnectionRefusedError" in delivery.log[0]["said"]


def test_without_a_mail_server_mail_is_given_up_at_once_and_says_why(desk: Desk, settings):
    settings.EMAIL_URL = ""
    route(channel(desk.workspace, "email", "ops@example.com"))
    parked(desk)
    told()
    assert "EMAIL_URL" in Delivery.objects.get().log[0]["said"]
