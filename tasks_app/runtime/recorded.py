"""Reading back what the record holds: the executor always runs what it reads from there."""

from typing import Any
from uuid import UUID

from django.utils.functional import cached_property

from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.models import Blob, Call, Event
from tasks_app.record.payload import resolve


def event_data(stream: UUID, seq: int) -> dict[str, Any]:
    """Return the data of one event, large values included."""
    data = Event.objects.values_list("data", flat=True).get(stream=stream, seq=seq)
    return data_whole(stream, data)


def data_whole(stream: UUID, data: dict[str, Any]) -> dict[str, Any]:
    """Return an event's data with its blobs read back."""

    def load(sha256: str) -> bytes:
        return bytes(Blob.objects.values_list("content", flat=True).get(stream=stream, sha256=sha256))

    whole: dict[str, Any] = resolve(data, load)
    return whole


class RecordedCall:
    """An open call as the record fixed it: contract, arguments, policy; each read once when needed."""

    def __init__(self, call: Call) -> None:
        self.call = call

    @cached_property
    def intended(self) -> dict[str, Any]:
        """The data of ``call.intended``."""
        return event_data(self.call.task_id, self.call.intended_seq)

    @cached_property
    def contract(self) -> Contract | None:
        """The code that carries the call's contract version, or None in this process."""
        return registry.tool_find(self.call.tool, self.call.contract_version)

    @cached_property
    def arguments(self) -> Any:
        """The arguments as the contract's model."""
        assert self.contract is not None
        return self.contract.arguments.model_validate(self.intended["arguments"])

    @property
    def gated(self) -> bool:
        """Whether the call runs under an approval."""
        return (self.intended.get("policy") or {}).get("outcome") == "ask"

    def answer(self) -> dict[str, Any]:
        """The data of the event that carries the call's answer, or {}."""
        return event_data(self.call.task_id, self.call.answer_seq) if self.call.answer_seq else {}
