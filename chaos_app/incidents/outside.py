"""Where the outside systems are, and what their answers mean.

The whole art of a tool is here: an answer that says "no" is ``Refused`` (definitely no effect), an answer that does
not say is ``Unknown``, and a connection that was never made is ``Refused(sent=False)``. Anything else that is raised
while acting means unknown as well, and while looking means "cannot tell".
"""

import os
from collections.abc import Mapping
from typing import Any

import httpx

from chaos_app.incidents.walls import MAIL, WEB, address_in
from core.errors import Unavailable
from tasks_app.contracts import CallContext, Refused, Unknown
from tasks_app.outside import http_client, looking_client

# Seconds that one attempt may take; longer where a person is to watch one.
TIMEOUT = float(os.environ.get("HANDRAIL_WORLD_TIMEOUT", "3"))
LAG = 1.0  # seconds after an attempt's deadline in which these systems may still apply what they accepted
LOOKING = 5.0  # seconds that a look-up or a read may take


def web_address() -> str:
    """Return where the systems answer over HTTP. Raises Unavailable where nobody has said it."""
    return _there(WEB)


def mail_address() -> tuple[str, int]:
    """Return host and port of the mail server. Raises Unavailable where nobody has said it."""
    host, _, port = _there(MAIL).rpartition(":")
    return host, int(port)


def _there(variable: str) -> str:
    address = address_in(variable)
    if not address:
        raise Unavailable(f"{variable} is not set: this process does not know where the outside systems are.")
    return address


def read(path: str, **parameters: str) -> dict[str, Any]:
    """Read by a request of its own (no effect). Raises what httpx raises, and for a list that is not complete."""
    with looking_client(base_url=web_address(), timeout=LOOKING) as client:
        answer = client.get(path, params=parameters)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    if found.get("complete") is False:
        raise ValueError(f"{path} answered a part of its list only")
    return found


def post(context: CallContext, path: str, body: Mapping[str, Any], **headers: str) -> dict[str, Any]:
    """Act. Raises Refused where there is no effect for certain, Unknown where nobody can tell."""
    with http_client(context, base_url=web_address()) as client:
        try:
            answer = client.post(path, json=body, headers=headers)
        except httpx.ConnectError as error:
            raise Refused(f"Nothing answers at {client.base_url}.", code="unreachable", sent=False) from error
    return _meant(answer)


def _meant(answer: httpx.Response) -> dict[str, Any]:
    if answer.is_success:
        said: dict[str, Any] = answer.json()
        return said
    reason = f"{answer.status_code}: {_detail(answer)}"
    if answer.status_code == 409 or answer.status_code >= 500:  # the key is in use, or the system broke
        raise Unknown(reason, retry_after=_seconds(answer.headers.get("Retry-After")))
    raise Refused(reason, code=f"http-{answer.status_code}", moved=answer.status_code == 412)


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:300]


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdigit() else None
