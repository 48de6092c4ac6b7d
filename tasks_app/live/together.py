"""Questions of many sockets that come while one answer is worked out are answered by the next, in one go.

So 500 sockets on one task cost a read or two for each event, not 500. A question is only ever answered by work that
began after it was asked: nobody gets an answer older than their question.

Rejected: keeping an answer for a while (a right that was withdrawn would hold until it is thrown away).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

Answers = Sequence[object]


class Together[Question, Answer]:
    """Asks ``work`` for many at once; an answer that is an exception is raised where its question was asked."""

    def __init__(self, work: Callable[[list[Question]], Awaitable[list[Answer | BaseException]]]) -> None:
        self._work = work
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._running: asyncio.Task[None] | None = None

    async def ask(self, question: Question) -> Answer:
        """Return the answer. Raises what the work raised, for this question or for all."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, answer))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # whoever was woken by the same hint asks before this goes on
            asked, self._waiting = self._waiting, []
            try:
                answers: list[Answer | BaseException] = await self._work([question for question, _ in asked])
                told = list(zip(asked, answers, strict=True))
            except BaseException as error:  # whatever ends this, nobody waits for ever
                for _, future in asked:
                    _tell(future, error)
                if not isinstance(error, Exception):
                    raise
            else:
                for (_, future), answer in told:
                    _tell(future, answer)


def _tell[Answer](future: "asyncio.Future[Answer]", answer: "Answer | BaseException") -> None:
    if future.done() or future.get_loop().is_closed():  # its socket was closed meanwhile
        return
    if isinstance(answer, asyncio.CancelledError):
        future.cancel()
    elif isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)
