"""What people do over the HTTP API: start tasks, decide approvals, settle calls in doubt. Nothing else is used."""

from typing import Any
from uuid import UUID

import httpx

Json = dict[str, Any]


class Desk:
    """One person's view of Handrail, with a bearer token of theirs."""

    def __init__(self, url: str, token: str, *, seconds: float = 15.0) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=seconds, trust_env=False)

    def ready(self) -> bool:
        """Whether everything that work needs is there."""
        try:
            return self._http.get("/ready").status_code == 200
        except httpx.HTTPError:
            return False

    def start(self, report: Json) -> UUID:
        """Start the agent on an incident; the same incident again is the same task."""
        body = {"agent": "incident.remediate", "intent": report, "labels": {"incident": report["id"]}}
        title = f"{report['id']}: {report['title']}"
        return UUID(self._post("/tasks", {**body, "title": title, "request_key": f"incident {report['id']}"})["id"])

    def statuses(self) -> dict[UUID, str]:
        """Read where the newest tasks are."""
        return {UUID(task["id"]): task["status"] for task in self._get("/tasks", limit=100)["items"]}

    def calls(self, task: UUID) -> list[Json]:
        """Read its calls."""
        return list(self._get(f"/tasks/{task}/calls"))

    def events(self, task: UUID) -> list[Json]:
        """Read its whole record."""
        found: list[Json] = []
        while True:
            window = self._get(f"/tasks/{task}/events", after=found[-1]["seq"] if found else 0, limit=500)
            found += window["items"]
            if not window["has_more"]:
                return found

    def approvals(self) -> list[Json]:
        """List what waits for a decision."""
        return list(self._get("/approvals", limit=100)["approvals"])

    def approve(self, approval: Json, reason: str) -> None:
        """Approve the call whose digest was read."""
        body = {"decision": "approved", "digest": approval["digest"], "reason": reason}
        self._post(f"/approvals/{approval['id']}/decide", body)

    def settle(self, task: UUID, call: str, *, answer: str, evidence: str, reference: str = "") -> bool:
        """Say what became of a call in doubt; False where nobody can know yet, or it is not in doubt any more."""
        body = {"answer": answer, "evidence": evidence, "reference": reference}
        said = self._http.post(f"/tasks/{task}/calls/{call}/settle", json=body)
        if said.status_code == 409:
            return False
        said.raise_for_status()
        return True

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _get(self, path: str, **parameters: Any) -> Any:
        answer = self._http.get(path, params=parameters)
        answer.raise_for_status()
        return answer.json()

    def _post(self, path: str, body: Json) -> Any:
        answer = self._http.post(path, json=body)
        if answer.is_error:
            raise RuntimeError(f"{path} answered {answer.status_code}: {answer.text[:500]}")
        return answer.json()
