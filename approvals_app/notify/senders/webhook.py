"""By a signed POST, as Standard Webhooks says: id, timestamp and signature in headers, the id the same at every try."""

import json
from datetime import UTC, datetime

import httpx
from standardwebhooks.webhooks import Webhook

from approvals_app.notify.models import Delivery
from approvals_app.notify.reach import NotReachable, address_pinned
from approvals_app.notify.senders.refusal import NotTaken

PATIENCE = 10.0  # seconds, for each of connecting, sending and the answer's first bytes
GONE = 410


def webhook_send(delivery: Delivery) -> str:
    """Post it. The name is resolved here and the connection goes to what was checked; redirects are not followed."""
    channel = delivery.channel
    try:
        pinned = address_pinned(channel.address)
    except NotReachable as refusal:
        raise NotTaken(str(refusal)) from None
    body = json.dumps(delivery.body, separators=(",", ":"))
    try:
        with httpx.Client(timeout=PATIENCE, trust_env=False, follow_redirects=False) as client:
            request = client.build_request(
                "POST",
                pinned.url,
                content=body,
                headers={**_signed(str(delivery.pk), channel.secret, body), "Host": pinned.host_header},
                extensions={"sni_hostname": pinned.host},
            )
            answer = client.send(request, stream=True)  # the answer's body says nothing that we need
            answer.close()
    except httpx.HTTPError as error:
        raise NotTaken(f"the receiver did not answer: {type(error).__name__}") from None
    if not answer.is_success:
        raise NotTaken(f"the receiver answered {answer.status_code}", final=answer.status_code == GONE)
    return f"the receiver answered {answer.status_code}"


def _signed(identity: str, secret: str, body: str) -> dict[str, str]:
    now = datetime.now(tz=UTC)
    return {
        "Content-Type": "application/json",
        "User-Agent": "Handrail",
        "webhook-id": identity,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(identity, now, body),
    }
