"""For contracts of tests whose tools are watched from the test itself, in its own process."""

from typing import Any

HERE: dict[str, Any] = {"sandbox": "none", "sandbox_reason": "Tests look into the process in which it runs."}
