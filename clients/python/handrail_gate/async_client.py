"""The client for asyncio: the same flows, nothing blocks the loop while people decide."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx

from handrail_gate.answers import Call, Opened
from handrail_gate.bound import Key, Terms, arguments_of, fit_check
from handrail_gate.client import PATIENCE
from handrail_gate.errors import GateError
from handrail_gate.execution import Done, Execution, NoEffect, under
from handrail_gate.flows import Flow, Sleep, Wanted, asking, finishing, lost, opening, reporting, using, waiting

type Function = Callable[..., Awaitable[Any]]


class AsyncGate:
    """A gate at ``url``, for the agent whose ``token`` it is; close it, or use ``async with``."""

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, follow_redirects=False)
        self._patience = patience

    async def __aenter__(self) -> "AsyncGate":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def approved(
        self,
        *,
        tool: str,
        reason: str = "",
        title: str = "",
        task: str | None = None,
        wait: float = 3600.0,
        key: Key | None = None,
    ) -> Callable[[Function], Function]:
        """Run the decorated coroutine function only as the gate lets it: once, with the final arguments."""
        terms = Terms(tool=tool, reason=reason, title=title, task=task, wait=wait, key=key)

        def decorate(function: Function) -> Function:
            @functools.wraps(function)
            async def gated(*given: Any, **named: Any) -> Any:
                return await self.run(function, terms, arguments_of(function, given, named))

            return gated

        return decorate

    async def run(self, function: Function, terms: Terms, arguments: Mapping[str, Any]) -> Any:
        """Ask, wait, use, run, report. Raises GateError where it was not run, ReportLost where only the report failed.

        A cancelled function is reported as unknown, once.
        """
        call = await self.wait(await self.request(terms.wanted(dict(arguments))), seconds=terms.wait)
        fit_check(function, call.arguments)
        execution = await self.use(call)
        with under(execution):
            try:
                result = await function(**execution.arguments)
            except NoEffect as refused:
                await self.report(execution, "failed", reason=str(refused))
                raise
            except BaseException as error:
                tries = None if isinstance(error, Exception) else 1
                await self.report(execution, "unknown", reason=f"{type(error).__name__}: {error}", tries=tries)
                raise
        if not await self.report(execution, "succeeded", result=result):
            raise lost(execution, result)
        return result.result if isinstance(result, Done) else result

    async def open_task(
        self, title: str, *, intent: Mapping[str, Any] | None = None, request_key: str | None = None
    ) -> Opened:
        """Open a task for several calls, each asked for with its ``id``; the same request key is the same task."""
        key = request_key or uuid4().hex
        return await self._drive(opening(title, intent, request_key=key, patience=self._patience))

    async def finish(self, task: str, *, outcome: str = "done", summary: str = "") -> Opened:
        """Say that the agent has finished, or has given up (``failed``): the task ends once no call of it is open."""
        return await self._drive(finishing(task, outcome=outcome, summary=summary, patience=self._patience))

    @contextlib.asynccontextmanager
    async def task(
        self, title: str, *, intent: Mapping[str, Any] | None = None, request_key: str | None = None
    ) -> AsyncIterator[Opened]:
        """Open a task and finish it with the block; failed where the block raises, which it then does."""
        opened = await self.open_task(title, intent=intent, request_key=request_key)
        try:
            yield opened
        except BaseException as error:
            with contextlib.suppress(GateError):
                await self.finish(opened.id, outcome="failed", summary=f"{type(error).__name__}: {error}"[:500])
            raise
        await self.finish(opened.id)

    async def request(self, wanted: Wanted) -> Call:
        """Ask for a call; the same request key is the same request."""
        return await self._drive(asking(wanted, patience=self._patience))

    async def wait(self, call: Call, *, seconds: float) -> Call:
        """Wait until the call may be run. Raises GateClosed, GateTimeout, GateDown."""
        return await self._drive(waiting(call, seconds=seconds))

    async def use(self, call: Call) -> Execution:
        """Use the call, once. Whatever it raises: nothing may be run."""
        return await self._drive(using(call, use_key=uuid4().hex))

    async def report(
        self, execution: Execution, outcome: str, *, result: Any = None, reason: str = "", tries: int | None = None
    ) -> bool:
        """Report succeeded, failed (definitely no effect) or unknown; False where the report was not taken."""
        return await self._drive(reporting(execution, outcome=outcome, result=result, reason=reason, tries=tries))

    async def _drive[T](self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Sleep):
                    await asyncio.sleep(step.seconds)
                    step = flow.send(None)
                    continue
                try:
                    answer: httpx.Response | Exception = await self._http.request(
                        step.method, step.path, json=step.body, timeout=step.timeout
                    )
                except (httpx.HTTPError, httpx.InvalidURL) as error:
                    answer = error
                step = flow.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
