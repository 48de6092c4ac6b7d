"""A process that does one thing to an approval each time it is told to: ``python -m tests.rival``.

Each line of its input is a JSON object; each line of its output says what became of it.
"""

import json
import subprocess
import sys
from typing import Any
from uuid import UUID


class Rival:
    """The parent's hold on such a process; two of them race."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.rival"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == {"ready": True}

    def tell(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order, default=str) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the rival died"
        return json.loads(line)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


def act(order: dict[str, Any]) -> dict[str, Any]:
    from django.contrib.auth.models import User

    from approvals_app.models import ApprovalRequest
    from approvals_app.services.expire import approvals_expire
    from approvals_app.status import Answer
    from core.errors import HandrailError
    from tests import desk

    match order["do"]:
        case "expire":
            return {"done": approvals_expire()}
        case "cancel":
            desk.cancel(UUID(order["task"]))
            return {"done": 1}
        case "attempt":
            from tasks_app.record.append import Stale, Token

            token = Token(epoch=order["epoch"], nonce=UUID(order["nonce"]))
            try:
                said = desk.attempt(UUID(order["task"]), order["name"], token, first=True)
            except Stale as stale:
                return {"admitted": False, "refusal": stale.refusal}
            return {"admitted": said.admitted}
        case "warm":  # whatever the first order would load, and its connection
            return {"ready": User.objects.exists() is not None}
    request = ApprovalRequest.objects.select_related("workspace").get(pk=order["approval"])
    user = User.objects.get(username=order["user"])
    try:
        outcome = desk.decide(request, user, Answer(order["do"]))
    except HandrailError as error:
        return {"status": error.status, "detail": error.detail, **error.fields}
    return {"status": 200, "new": outcome.new, "decision": outcome.request.decision}


def main() -> None:
    import django

    django.setup()
    answers, sys.stdout = sys.stdout, sys.stderr  # the log goes where it does not look like an answer
    print(json.dumps(act({"do": "warm"})), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(act(json.loads(line)), default=str), file=answers, flush=True)


if __name__ == "__main__":
    main()
