"""What a message says: that something waits, and where to look. Never a decision, never arguments.

The link carries no token: whoever follows it signs in (rule 11). A call's one line stays inside, since a tool may
quote its arguments in it.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.notify.kinds import Kind
from approvals_app.notify.models import Alert, Channel
from core.moments import absolute

Body = dict[str, Any]


def approval_body(request: ApprovalRequest, kind: Kind) -> Body:
    """Say that an approval waits, for another group now, or that nothing is left to decide."""
    what = f"{request.tool} of {request.agent}"
    title = {
        Kind.REQUESTED: f"Approval needed: {what}",
        Kind.ESCALATED: f"Approval needed, nobody decided in time: {what}",
        Kind.SETTLED: f"Nothing is left to decide: {what}",
    }[kind]
    said = [f"{request.risk.capitalize()} risk. Asked: {request.group}."]
    if request.decide_by and kind != Kind.SETTLED:
        said.append(f"Decide by {absolute(request.decide_by)}.")
    facts = {"approval": str(request.pk), "tool": request.tool, "agent": request.agent, "risk": request.risk}
    until = request.decide_by.isoformat() if request.decide_by else None
    return _body(
        kind,
        title=title,
        text=" ".join(said) if kind != Kind.SETTLED else "",
        address=reverse("approval", args=[request.pk]),
        workspace=request.workspace.slug,
        at=request.requested_at,
        facts=facts | {"group": request.group, "decide_by": until, "task": str(request.task_id)},
    )


def alert_body(alert: Alert, kind: Kind) -> Body:
    """Say that an alert stands, or that it is over."""
    over = kind == Kind.CLEARED
    at = alert.cleared_at if over else alert.raised_at
    assert at is not None
    return _body(
        kind,
        title=f"Over: {alert.title}" if over else alert.title,
        text="" if over else alert.todo,
        address=alert.address or reverse("alerts"),
        workspace=alert.workspace.slug if alert.workspace else "",
        at=at,
        facts={"alert": str(alert.pk), "rule": alert.rule},
    )


def trial_body(channel: Channel, at: datetime) -> Body:
    """Say that the channel works."""
    return _body(
        Kind.TEST,
        title=f"The channel {channel.name} works",
        text="Somebody tried it from the console.",
        address=reverse("alerts"),
        workspace=channel.workspace.slug,
        at=at,
        facts={},
    )


def _body(
    kind: Kind, *, title: str, text: str, address: str, workspace: str, at: datetime, facts: dict[str, Any]
) -> Body:
    return {
        "type": kind.value,
        "timestamp": at.isoformat(),
        "data": {
            "title": title,
            "text": text,
            "link": f"{settings.PUBLIC_URL.rstrip('/')}{address}",
            "environment": settings.HANDRAIL_ENVIRONMENT,
            "workspace": workspace,
            **facts,
        },
    }


def plain(body: Body) -> str:
    """Return a message as lines of text, for mail and chat."""
    data = body["data"]
    place = ", ".join(part for part in (data["environment"], data["workspace"]) if part)
    return "\n".join(line for line in (data["text"], data["link"], f"({place})") if line)
