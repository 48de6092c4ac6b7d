"""The client for ordinary code: it blocks while people decide."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import httpx

from handrail_gate.answers import Call, Opened
from handrail_gate.bound import Key, Terms, arguments_of, fit_check
from handrail_gate.errors import GateError
from handrail_gate.execution import Done, Execution, NoEffect, under
from handrail_gate.flows import Flow, Sleep, Wanted, asking, finishing, lost, opening, reporting, using, waiting

PATIENCE = 30.0  # seconds for which a gate that does not answer is asked again


class Gate:
    """A gate at ``url``, for the agent whose ``token`` it is. Threads may share it; close it, or use ``with``."""

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, follow_redirects=False)
        self._patience = patience

    def __enter__(self) -> "Gate":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def approved(
        self,
        *,
        tool: str,
        reason: str = "",
        title: str = "",
        task: str | None = None,
        wait: float = 3600.0,
        key: Key | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Run the decorated function only as the gate lets it: once, with the final arguments, which it must take.

        ``wait``: seconds until GateTimeout; the request then still stands. See ``Terms`` for the others.
        """
        terms = Terms(tool=tool, reason=reason, title=title, task=task, wait=wait, key=key)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def gated(*given: Any, **named: Any) -> Any:
                return self.run(function, terms, arguments_of(function, given, named))

            return gated

        return decorate

    def run(self, function: Callable[..., Any], terms: Terms, arguments: Mapping[str, Any]) -> Any:
        """Ask, wait, use, run, report. Raises GateError where it was not run, ReportLost where only the report failed.

        What the function raises is raised again: ``NoEffect`` after a report of failed, all else of unknown.
        """
        call = self.wait(self.request(terms.wanted(dict(arguments))), seconds=terms.wait)
        fit_check(function, call.arguments)
        execution = self.use(call)
        with under(execution):
            try:
                result = function(**execution.arguments)
            except NoEffect as refused:
                self.report(execution, "failed", reason=str(refused))
                raise
            except BaseException as error:
                tries = None if isinstance(error, Exception) else 1  # whoever interrupts does not want to wait
                self.report(execution, "unknown", reason=f"{type(error).__name__}: {error}", tries=tries)
                raise
        if not self.report(execution, "succeeded", result=result):
            raise lost(execution, result)
        return result.result if isinstance(result, Done) else result

    def open_task(
        self, title: str, *, intent: Mapping[str, Any] | None = None, request_key: str | None = None
    ) -> Opened:
        """Open a task for several calls, each asked for with its ``id``; the same request key is the same task."""
        key = request_key or uuid4().hex
        return self._drive(opening(title, intent, request_key=key, patience=self._patience))

    def finish(self, task: str, *, outcome: str = "done", summary: str = "") -> Opened:
        """Say that the agent has finished, or has given up (``failed``): the task ends once no call of it is open."""
        return self._drive(finishing(task, outcome=outcome, summary=summary, patience=self._patience))

    @contextlib.contextmanager
    def task(
        self, title: str, *, intent: Mapping[str, Any] | None = None, request_key: str | None = None
    ) -> Iterator[Opened]:
        """Open a task and finish it with the block; failed where the block raises, which it then does."""
        opened = self.open_task(title, intent=intent, request_key=request_key)
        try:
            yield opened
        except BaseException as error:
            with contextlib.suppress(GateError):
                self.finish(opened.id, outcome="failed", summary=f"{type(error).__name__}: {error}"[:500])
            raise
        self.finish(opened.id)

    def request(self, wanted: Wanted) -> Call:
        """Ask for a call; the same request key is the same request."""
        return self._drive(asking(wanted, patience=self._patience))

    def wait(self, call: Call, *, seconds: float) -> Call:
        """Wait until the call may be run. Raises GateClosed, GateTimeout, GateDown."""
        return self._drive(waiting(call, seconds=seconds))

    def use(self, call: Call) -> Execution:
        """Use the call, once. Whatever it raises: nothing may be run."""
        return self._drive(using(call, use_key=uuid4().hex))

    def report(
        self, execution: Execution, outcome: str, *, result: Any = None, reason: str = "", tries: int | None = None
    ) -> bool:
        """Report succeeded, failed (definitely no effect) or unknown; False where the report was not taken."""
        return self._drive(reporting(execution, outcome=outcome, result=result, reason=reason, tries=tries))

    def _drive[T](self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Sleep):
                    time.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    answer: httpx.Response | Exception = self._http.request(
                        step.method, step.path, json=step.body, timeout=step.timeout
                    )
                except (httpx.HTTPError, httpx.InvalidURL) as error:
                    answer = error
                step = flow.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
