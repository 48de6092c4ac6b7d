"""Channels and routes are changed here, each change said in the administration stream; secrets are not."""

import secrets
from base64 import b64encode
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from approvals_app.notify.kinds import ChannelKind, Kind
from approvals_app.notify.messages import trial_body
from approvals_app.notify.models import Channel, Delivery, Route
from approvals_app.notify.reach import NotReachable, address_pinned, service_of
from approvals_app.notify.recipients import addresses_of, trial_recipients
from core.clock import database_now
from core.errors import InvalidInput
from tasks_app.record.append import append_administration
from tasks_app.record.events import ChannelChanged

SECRET_BYTES = 32
MAIL_MOST = 254  # characters that an address may have on its way (RFC 5321), and that a delivery holds


def address_mistake(*, kind: str, address: str) -> str:
    """Say what is wrong with a channel's address, or an empty text."""
    try:
        if kind == ChannelKind.WEBHOOK:
            address_pinned(address)
        elif kind == ChannelKind.APPRISE:
            service_of(address)
        elif kind == ChannelKind.EMAIL:
            return _mail_mistake(Channel(address=address))
        elif address:
            return "Leave this empty: the people's own addresses are used."
    except NotReachable as refusal:
        return str(refusal)
    return ""


def channel_save(*, channel: Channel, actor: str, before: Channel | None = None, new_secret: bool = False) -> str:
    """Save a channel; returns the webhook's secret where a new one was made, to be shown this once.

    Raises InvalidInput for an address that may not be used.
    """
    mistake = address_mistake(kind=channel.kind, address=channel.address)
    if mistake:
        raise InvalidInput(mistake, errors=[{"field": "address", "reason": mistake}])
    secret = ""
    if channel.kind == ChannelKind.WEBHOOK and (new_secret or not channel.secret):
        secret = channel.secret = f"whsec_{b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"
    with transaction.atomic():
        channel.save()
        _record(
            channel.workspace_id,
            f"channel {channel.name}",
            _facts(before),
            _facts(channel, before, bool(secret)),
            actor,
        )
    return secret


def route_save(*, route: Route, actor: str, before: Route | None = None) -> None:
    """Save a route. Raises InvalidInput where its channel belongs to another workspace."""
    if route.channel.workspace_id != route.workspace_id:
        raise InvalidInput("The channel belongs to another workspace.")
    with transaction.atomic():
        route.save()
        _record(route.workspace_id, f"route to {route.channel.name}", _way(before), _way(route), actor)


def route_remove(*, route: Route, actor: str) -> None:
    """Remove a route; what was sent by it stays listed."""
    with transaction.atomic():
        _record(route.workspace_id, f"route to {route.channel.name}", _way(route), None, actor)
        route.delete()


def channel_try(*, channel: Channel, user: User) -> int:
    """Send a message that says the channel works, whether it is enabled or not; returns how many."""
    now, subject = database_now(), uuid4()
    rows = [
        Delivery(
            workspace_id=channel.workspace_id,
            channel=channel,
            kind=Kind.TEST,
            subject=subject,
            recipient=recipient,
            body=trial_body(channel, now),
            made_at=now,
            due_at=now,
        )
        for recipient in trial_recipients(channel, user)
    ]
    return len(Delivery.objects.bulk_create(rows))


def _mail_mistake(channel: Channel) -> str:
    given = addresses_of(channel)
    for one in given:
        try:
            validate_email(one)
        except ValidationError:
            return f"{one!r} is no e-mail address."
        if len(one) > MAIL_MOST:
            return f"An e-mail address has at most {MAIL_MOST} characters; {one[:40]!r}… has {len(one)}."
    return "" if given else "Name at least one address."


def _facts(channel: Channel | None, before: Channel | None = None, secret: bool = False) -> dict[str, Any] | None:
    """What is said of a channel: an address may carry a password or a token, so only that it changed."""
    if channel is None:
        return None
    moved = before is not None and before.address != channel.address
    said = {"kind": channel.kind, "name": channel.name, "enabled": channel.enabled}
    return said | ({"address": "changed"} if moved else {}) | ({"secret": "new"} if secret else {})


def _way(route: Route | None) -> dict[str, Any] | None:
    names = ("about", "group", "tool", "lowest_risk", "rule", "after", "enabled")
    return {name: getattr(route, name) for name in names} if route else None


def _record(workspace: Any, what: str, before: Any, after: Any, actor: str) -> None:
    event = ChannelChanged(what=what, before=before, after_change=after)
    append_administration(workspace=workspace, events=[event], actor=actor)
