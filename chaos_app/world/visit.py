"""A visit: one request on its way through a system of the outside world, whatever protocol it came by."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chaos_app.world.errors import Refused
from chaos_app.world.faults import Fault, Kind, first_complaint
from chaos_app.world.marks import Marks


class Input(BaseModel):
    """Base of every body that a system reads: unknown fields are refused, the business key may ride inside."""

    model_config = ConfigDict(extra="forbid", strict=True)

    business_key: str | None = None


Body = TypeVar("Body", bound=Input)
Anything = TypeVar("Anything")


@dataclass(frozen=True)
class Reply:
    """What a system answers when nothing goes wrong on the way."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    replayed: bool = False


@dataclass
class Visit:
    """The request, its marks, and the fault that was told for it."""

    system: str
    operation: str
    acts: bool
    method: str
    path: str
    marks: Marks
    arguments: Any
    content: bytes = b""
    parameters: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    idempotency_key: str | None = None
    fault: Fault | None = None
    fault_id: int | None = None
    arrival: int = 0
    planted: bool = False
    late: bool = False

    def traits(self) -> dict[str, Any]:
        """What a fault plan can match on."""
        names = ("system", "operation", "acts", "method", "path")
        return {name: getattr(self, name) for name in names} | asdict(self.marks)

    def told(self, kind: Kind) -> bool:
        """Whether this fault was told for this visit."""
        return self.fault is not None and self.fault.fault is kind

    def digest(self) -> str:
        """Digest of what is asked, to tell a repetition from another request under the same key."""
        said = self.arguments if self.arguments is not None else hashlib.sha256(self.content).hexdigest()
        text = json.dumps([self.operation, self.path, said], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def read(self, model: type[Body]) -> Body:
        """The body as ``model``. Raises ``Refused`` (400) with the first field that is wrong."""
        if not isinstance(self.arguments, dict):
            raise Refused(400, "invalid", "The body must be a JSON object, sent as application/json.")
        try:
            return model.model_validate(self.arguments)
        except ValidationError as error:
            raise Refused(400, "invalid", first_complaint(error)) from error

    def seen(self, rows: list[Anything]) -> list[Anything]:
        """What a look-up may see: everything, or nothing while it is told to hide."""
        return [] if self.told(Kind.HIDE) else rows
