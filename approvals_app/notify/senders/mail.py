"""By e-mail, through Django."""

import smtplib

from django.conf import settings
from django.core.mail import EmailMessage

from approvals_app.notify.messages import plain
from approvals_app.notify.models import Delivery
from approvals_app.notify.senders.refusal import NotTaken


def mail_send(delivery: Delivery) -> str:
    """Send it as an e-mail; the delivery's id is in its Message-ID, the same at every try."""
    if not settings.EMAIL_URL:
        raise NotTaken("no mail server is set (EMAIL_URL)", final=True)
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">")
    mail = EmailMessage(
        subject=delivery.body["data"]["title"],
        body=plain(delivery.body),
        to=[delivery.recipient],
        headers={"Message-ID": f"<{delivery.pk}@{domain}>", "Auto-Submitted": "auto-generated"},
    )
    try:
        mail.send(using="default")
    except smtplib.SMTPRecipientsRefused as refused:
        code = next(iter(refused.recipients.values()))[0]
        raise NotTaken(f"the mail server refused the address ({code})", final=code >= 500) from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotTaken(f"the mail server did not take it: {type(error).__name__}") from None
    return "taken by the mail server"
