"""What a run says while it goes on: each failure at once, and each long test.

A run that is cut off (by a time limit of its own, by a machine) prints no summary; what it printed by then must do.
"""

from typing import Any

import pytest

LONG = 60.0  # s: a test that took this long is named
LAST_LINES, IN_FULL = 40, 20  # the last lines of what a failed test said, of so many of them


class Told:
    """Writes beside the dots, in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.took: dict[str, float] = {}
        self.failed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name a test when it failed, with the end of what it said, or when it took long."""
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed += 1
            said = report.longreprtext.splitlines()[-LAST_LINES:] if self.failed <= IN_FULL else []
            self._write(f"failed in {report.when}: {report.nodeid}", *said)
        if report.when == "teardown" and (took := self.took.pop(report.nodeid)) > LONG:
            self._write(f"long: {report.nodeid} took {took:.0f} s")

    def _write(self, *lines: str) -> None:
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            for line in ("", *lines):  # the dots end here
                reporter.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    """Tell where reports arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told(config), "told")
