"""The asynchronous client, for asyncio. Calls may overlap; each has a connection of its own while it runs."""
from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from . import operations as ops
from .errors import Unavailable, WitanError, error_of, value_of
from .locate import Endpoint, Role, endpoint_of, locate
from .operations import Decision, Parted
from .streams import CONNECT, IDLE, Incoming, StreamOwner, T, WatchBase
from .types import CommitPreview, JournalEntity, JournalWritten, Json, LedgerRow, QueueRow, SliceShown
from .wire import Event, Response, WireError, request_bytes

_CONNECTIONS = 32  # calls at a time; a node has 256 connections for all its clients


def connect_async(directory: str | os.PathLike[str] | None = None, *, url: str | None = None, token: str | None = None,
                  role: Role = "operator") -> AsyncClient:
    """As witan.connect()."""
    return AsyncClient(endpoint_of(url, token or "") if url else locate(directory, role))


class _Connection:
    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host, self._token = endpoint.host_header, endpoint.token
        self._reader, self._writer = reader, writer

    @staticmethod
    async def open(endpoint: Endpoint) -> _Connection:
        try:
            async with asyncio.timeout(CONNECT):
                if endpoint.path:
                    streams = await asyncio.open_unix_connection(endpoint.path)
                else:
                    streams = await asyncio.open_connection(endpoint.host, endpoint.port)
        except OSError as failure:
            raise Unavailable("unavailable", f"no node answers at {endpoint}: {failure}") from None
        return _Connection(endpoint, *streams)

    async def send(self, method: str, target: str, body: bytes | None, after: str = "") -> None:
        self._writer.write(request_bytes(method, target, self._host, self._token, body, after))
        await self._writer.drain()

    async def read_into(self, response: Response) -> None:
        data = await self._reader.read(65536)
        if data:
            response.feed(data)
        else:
            response.end_of_input()

    def close(self) -> None:
        self._writer.close()


class AsyncClient:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._idle: list[_Connection] = []
        self._room = asyncio.Semaphore(_CONNECTIONS)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    # ---- any route of the OpenAPI document
    async def get(self, path: str, **query: Any) -> Any:
        return await self._run(ops.simple(ops.get(path, **query)))

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._run(ops.simple(ops.post(path, body)))

    # ---- shared state under rules
    async def begin(self, domain: str, entity: str, init: Mapping[str, Any] | None = None, *,
                   operation_id: str | None = None, timeout: float = 30.0) -> Decision:
        body = {"domain": domain, "entity": entity, "init": init, "operationId": operation_id}
        return await self._run(ops.decide("/v1/entities", body, timeout))

    async def propose(self, domain: str, entity: str, role: str, action: Mapping[str, Any], *,
                     operation_id: str | None = None, timeout: float = 30.0) -> Decision:
        """The decision, which is durable; "waiting" if there is none after `timeout` seconds.

        Repeat a call with the same `operation_id` after an error: nothing is decided twice.
        """
        body = {"domain": domain, "entity": entity, "role": role, "action": action, "operationId": operation_id}
        return await self._run(ops.decide("/v1/propose", body, timeout))

    async def propose_all(self, proposals: Sequence[Mapping[str, Any]], *, timeout: float = 30.0) -> list[Decision]:
        """Of each proposal {"domain", "entity", "role", "action", "operationId"?} its decision, as propose() has it. They
        are asked for together, in their order, and become durable together."""
        return await self._run(ops.decide_all(proposals, timeout))

    async def settled(self, decision: Decision, domain: str, entity: str, *, timeout: float | None = None) -> Decision:
        """The counselor's decision on an escalated proposal, when there is one; every other decision as it is."""
        return await self._run(ops.settled(decision, domain, entity, timeout))

    async def slice(self, domain: str, entity: str, role: str | None = None) -> SliceShown:
        return await self._run(ops.simple(ops.get("/v1/slice", domain=domain, entity=entity, role=role)))

    async def ledger(self, **query: Any) -> list[LedgerRow]:
        """Entries, oldest first; the query has domain, partition, entity, after and limit."""
        return await self._run(ops.member(ops.get("/v1/ledger", **query), "entries"))

    # ---- what waits for people; the token has the role counselor or admin
    async def queue(self, domain: str | None = None) -> list[QueueRow]:
        return await self._run(ops.member(ops.get("/v1/queue", domain=domain), "queue"))

    async def preview(self, row: QueueRow, counselor: str, *, edit: dict[str, Any] | None = None,
                     base: str | None = None) -> CommitPreview:
        """What a commit would write and violate. Changes nothing."""
        body = ops.answer(row, counselor, "commit", edit, base, None)
        return await self._run(ops.simple(ops.post("/v1/queue/preview", body, repeatable=True)))

    async def commit(self, row: QueueRow, counselor: str, *, edit: dict[str, Any] | None = None, base: str | None = None,
                    reason: str | None = None, timeout: float = 30.0) -> Decision:
        return await self._run(ops.decide_queued(ops.answer(row, counselor, "commit", edit, base, reason), timeout))

    async def reject(self, row: QueueRow, counselor: str, *, reason: str | None = None, timeout: float = 30.0) -> Decision:
        return await self._run(ops.decide_queued(ops.answer(row, counselor, "reject", None, None, reason), timeout))

    # ---- the journal
    async def journal_put(self, id: str, payload: Json, *, type: str | None = None, author: str | None = None,
                         scope: str | None = None) -> JournalWritten:
        return await self._run(ops.put_journal(id, payload, type, author, scope))

    async def journal_get(self, id: str, *, scope: str | None = None) -> JournalEntity:
        return await self._run(ops.simple(ops.get("/v1/journal/get", id=id, scope=scope)))

    async def journal_list(self, *, scope: str | None = None) -> list[JournalEntity]:
        return await self._run(ops.member(ops.get("/v1/journal/list", scope=scope), "entities"))

    # ---- watches: each has a connection of its own, and connects again when that breaks
    def watch_ledger(self, *, domain: str | None = None, partition: str | None = None, entity: str | None = None,
                     after: str | None = None, timeout: float | None = None) -> AsyncWatch[LedgerRow | Parted]:
        """Each entry once, in the order of its partition; a Parted where entries that were taken are not in the ledger
        any more. To resume, store `position` of the watch, give it as `after`; "0": from the first entry on.
        """
        position = ops.position_of(after)
        steps = ops.watch_ledger(position, domain=domain, partition=partition, entity=entity, timeout=timeout)
        return AsyncWatch(_Runner(self, steps), position)

    def watch_slice(self, domain: str, entity: str, role: str | None = None, *, interval: float = 1.0,
                    timeout: float | None = None) -> AsyncWatch[SliceShown]:
        """The slice, and again each time it has changed. `interval` is for devices without ledgers."""
        return AsyncWatch(_Runner(self, ops.watch_slice(domain, entity, role, interval, timeout)))

    # ---- an agent whose program this is
    async def serve(self, agent: str, think: Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]], *,
                    most: int | None = None) -> None:
        """As Client.serve, with a coroutine function."""
        last: tuple[str, Mapping[str, Any]] = ("", {})
        async with AsyncWatch[Any](_Runner(self, ops.questions(agent))) as questions:
            while most is None or most > 0:
                question = await anext(questions)
                if question["question"] != last[0]:
                    last = (question["question"], await think(question["asked"]))
                taken = await self._run(ops.answer_question(agent, *last))
                most = most - 1 if taken and most is not None else most

    # ---- how steps are run
    async def _run(self, steps: ops.Steps) -> Any:
        runner = _Runner(self, steps)
        try:
            await runner.next_value()
        except _Finished as end:
            return end.value
        finally:
            runner.close()

    async def _call(self, call: ops.Call) -> Any:
        async with self._room:
            return value_of(await self._answer(call))

    async def _answer(self, call: ops.Call) -> Response:
        while True:
            fresh = not self._idle
            connection = await _Connection.open(self._endpoint) if fresh else self._idle.pop()
            try:
                response = await self._exchange(connection, call)
            except (OSError, WireError) as failure:
                connection.close()
                if not fresh and call.repeatable and not isinstance(failure, TimeoutError):
                    self.close()  # the node was started again, or ended idle connections
                    continue
                raise Unavailable("unavailable", f"the connection to {self._endpoint} broke: {failure}") from None
            except BaseException:
                connection.close()
                raise
            if response.reusable:
                self._idle.append(connection)
            else:
                connection.close()
            return response

    @staticmethod
    async def _exchange(connection: _Connection, call: ops.Call) -> Response:
        response = Response()
        async with asyncio.timeout(call.timeout):
            await connection.send(call.method, call.target, call.body)
            while not response.done:
                await connection.read_into(response)
        return response


class _Stream(Incoming):
    """The answer to an Open, while it comes."""

    def __init__(self, connection: _Connection) -> None:
        super().__init__()
        self._connection = connection

    @staticmethod
    async def open(endpoint: Endpoint, target: str, after: str) -> _Stream:
        stream = _Stream(await _Connection.open(endpoint))
        try:
            async with asyncio.timeout(CONNECT):
                await stream._begin(target, after)
        except BaseException:
            stream.close()
            raise
        return stream

    async def _begin(self, target: str, after: str) -> None:
        await self._connection.send("GET", target, None, after)
        while not self.response.status:
            await self._connection.read_into(self.response)
        if self.response.status != 200:
            while not self.response.done:
                await self._connection.read_into(self.response)
            raise error_of(self.response.status, self.response.take_body())

    async def next(self, timeout: float | None) -> Event | None:
        try:
            async with asyncio.timeout(timeout) as limit:
                while (event := self.take()) is None:
                    async with asyncio.timeout(IDLE):
                        await self._connection.read_into(self.response)
                return event
        except TimeoutError:
            if limit.expired():
                return None
            raise

    def close(self) -> None:
        self._connection.close()


class _Finished(Exception):
    """The end of steps: StopIteration cannot leave a coroutine."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Runner(StreamOwner[_Stream]):
    """Performs the effects of steps."""

    def __init__(self, client: AsyncClient, steps: ops.Steps) -> None:
        super().__init__(steps)
        self._client = client

    async def next_value(self) -> Any:
        """The next emitted value. _Finished has the result of the steps."""
        try:
            effect = self._steps.send(None)
            while not isinstance(effect, ops.Emit):
                try:
                    result = await self._perform(effect)
                except (OSError, WireError, WitanError) as failure:
                    effect = self._failed(failure)
                else:
                    effect = self._steps.send(result)
        except StopIteration as end:
            raise _Finished(end.value) from None
        return effect.value

    async def _perform(self, effect: Any) -> Any:
        match effect:
            case ops.Call():
                return await self._client._call(effect)
            case ops.Pause():
                return await asyncio.sleep(effect.seconds)
            case ops.Open():
                self._close_stream()
                self._stream = await _Stream.open(self._client._endpoint, effect.target, effect.after)
                return None
            case ops.Next() if self._stream is not None:
                return await self._stream.next(effect.timeout)
        raise TypeError(f"no effect: {effect}")


class AsyncWatch(WatchBase[T]):
    """An asynchronous iterator over a watch."""

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        try:
            return await self._runner.next_value()
        except _Finished:
            self.close()
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AsyncWatch[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
