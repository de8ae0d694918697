"""Runs rows as rollouts."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from typing import Any, Awaitable, Iterator, TypeVar

from nemo_gym.server_utils import (
    BaseServerConfig,
    ServerClient,
    ServerUnavailableError,
    raise_for_status,
)

#: Results that are read and not yet awaited. Long ones take megabytes each, and a trainer may be busy.
READ_AHEAD = 64

Row = dict[str, Any]
Result = TypeVar("Result")


class RolloutCollectionHelper:
    """Posts rows to `/run` of the agents they name."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, int], ServerClient] = {}

    def setup_server_client(self, head_server_config: BaseServerConfig | None = None) -> ServerClient:
        """The client for the run of a head server."""
        head = head_server_config or ServerClient.load_head_server_config()
        key = (head.host, head.port)
        if key not in self._clients:
            self._clients[key] = ServerClient.load_from_global_config(head)
        return self._clients[key]

    def run_examples(
        self,
        examples: list[Row],
        head_server_config: BaseServerConfig | None = None,
        semaphore: Any = None,
    ) -> Iterator[Awaitable[tuple[Row, Row]]]:
        """Posts all rows at once and gives awaitables of (row, result), the first to finish first.

        Each raises GymRequestError when an agent answers with an error, and ServerUnavailableError when it cannot be reached.
        At most READ_AHEAD results are read before they are awaited; the others wait in the gym, which then asks the engines for no more.
        A result whose `mask_sample` is true has a reward that must not be learned from. Needs a running event loop.
        """
        client = self.setup_server_client(head_server_config)
        for index, row in enumerate(examples):
            if not isinstance((row.get("agent_ref") or {}).get("name"), str):
                raise ValueError(f"Row {index} has no agent_ref.name: it is not clear which agent runs it.")
        unread = asyncio.Semaphore(READ_AHEAD)

        async def run(row: Row) -> tuple[Row, bytes]:
            async with client, semaphore or nullcontext():
                try:
                    response = await client.post(row["agent_ref"]["name"], "/run", json=row)
                except ServerUnavailableError:
                    # The gym may have been started again on other ports: the next call asks the head server anew.
                    self._forget(client)
                    raise
                async with response:
                    await raise_for_status(response)
                    await unread.acquire()
                    try:
                        return row, await response.read()
                    except BaseException:
                        unread.release()
                        raise

        async def parsed(finished: Awaitable[tuple[Row, bytes]]) -> tuple[Row, Row]:
            row, content = await finished
            unread.release()
            # Only now, because Python's numbers take three times the memory of their text.
            return row, json.loads(content)

        return map(parsed, FirstFinished([asyncio.ensure_future(run(row)) for row in examples]))

    def _forget(self, client: ServerClient) -> None:
        self._clients = {key: kept for key, kept in self._clients.items() if kept is not client}


class FirstFinished(Iterator[Awaitable[Result]]):
    """As `asyncio.as_completed`, which keeps every result until the last one has come: a batch of long rollouts takes gigabytes.

    Tasks whose results nobody can take any more, because this object is gone, are cancelled.
    """

    def __init__(self, tasks: list[asyncio.Future[Result]]) -> None:
        self._left = len(tasks)
        self._loop = tasks[0].get_loop() if tasks else None
        self._running = running = set(tasks)
        self._finished = finished = asyncio.Queue[asyncio.Future[Result]]()

        def on_done(task: asyncio.Future[Result]) -> None:
            running.discard(task)
            finished.put_nowait(task)

        for task in tasks:
            task.add_done_callback(on_done)

    def __next__(self) -> Awaitable[Result]:
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return self._take()

    async def _take(self) -> Result:
        return (await self._finished.get()).result()

    def __del__(self) -> None:
        # Called in any thread. The set changes in the thread of the loop, so only that thread may iterate over it.
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_cancel_all, self._running)


def _cancel_all(tasks: set[asyncio.Future[Any]]) -> None:
    for task in list(tasks):
        task.cancel()
