"""The incidents of the demo."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings

FILE = "examples/incidents.json"


def reports_file() -> Path:
    """Return where the incidents are; it is also what the outside world starts with."""
    path: Path = settings.BASE_DIR / FILE
    return path


@dataclass(frozen=True)
class Expected:
    """One effect that an incident must have outside: by what system, and its business key there."""

    system: str
    tool: str
    business_key: str


@dataclass(frozen=True)
class Incident:
    """One incident report, and what must be found outside once it has been worked on."""

    report: dict[str, Any]

    @property
    def id(self) -> str:
        """Its number."""
        return str(self.report["id"])

    @cached_property
    def expected(self) -> list[Expected]:
        """The effects, in the order in which they come."""
        told = self.report
        found = [
            Expected("tickets", "ticket.open", f"ticket.open:{self.id}"),
            Expected("config", "config.change", f"config.change:{self.id}:{told['suspected_setting']}"),
            Expected("mail", "mail.notify", f"mail.notify:{self.id}:{told['on_call']}"),
        ]
        if told["vendor"]:
            found.insert(2, Expected("payments", "vendor.credit", f"vendor.credit:{self.id}:{told['vendor']}"))
        return found


def incidents() -> list[Incident]:
    """Read the incidents."""
    return [Incident(report) for report in json.loads(reports_file().read_text())["incidents"]]
