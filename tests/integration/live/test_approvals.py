"""Rule 11 at the sockets of the desk and of a card: whatever is sent over one, nothing is decided."""

import json

from approvals_app.models import ApprovalAnswer, ApprovalRequest
from tests.desk import Desk, parked
from tests.integration.live.conftest import Live, session_of


def test_rule_11_a_socket_never_decides(live: Live, desk: Desk):
    request = parked(desk)
    cookie = session_of(desk.rhea)
    answer = {"approval": str(request.pk), "decision": "approved", "digest": request.digest, "reason": "ok"}
    for path in ("/ws/approvals/?tab=mine", f"/ws/approvals/{request.pk}/"):
        socket = live.socket(path, cookie=cookie)
        for kind in ("approve", "decide", "approval.decide", "resume", "looking"):
            socket.send(json.dumps({"type": kind, **answer}))
        socket.send(json.dumps({"type": "resume"}))
        while "head" not in json.loads(socket.recv(timeout=20)):  # it has read all of them, and is still there
            pass
    assert ApprovalRequest.objects.get(pk=request.pk).status == "requested"
    assert not ApprovalAnswer.objects.exists()
