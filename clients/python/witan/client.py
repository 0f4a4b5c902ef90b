"""The blocking client. It may be used by several threads; a watch belongs to one."""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import operations as ops
from .errors import Unavailable, WitanError, error_of, value_of
from .locate import Endpoint, Role, endpoint_of, locate
from .operations import Decision, Parted
from .streams import CONNECT, IDLE, Incoming, StreamOwner, T, WatchBase
from .types import CommitPreview, JournalEntity, JournalWritten, Json, LedgerRow, QueueRow, SliceShown
from .wire import Event, Response, WireError, request_bytes


def connect(directory: str | os.PathLike[str] | None = None, *, url: str | None = None, token: str | None = None,
            role: Role = "operator") -> Client:
    """Of a data directory, of `url` with `token`, or, without arguments, of the node that the command line would find."""
    return Client(endpoint_of(url, token or "") if url else locate(directory, role))


def _unix_socket(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.settimeout(CONNECT)
        made.connect(path)
    except OSError:
        made.close()
        raise
    return made


class _Connection:
    def __init__(self, endpoint: Endpoint) -> None:
        self._host, self._token = endpoint.host_header, endpoint.token
        try:
            if endpoint.path:
                self._socket = _unix_socket(endpoint.path)
            else:
                self._socket = socket.create_connection((endpoint.host, endpoint.port), CONNECT)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as failure:
            raise Unavailable("unavailable", f"no node answers at {endpoint}: {failure}") from None

    def send(self, method: str, target: str, body: bytes | None, after: str = "") -> None:
        self._socket.sendall(request_bytes(method, target, self._host, self._token, body, after))

    def read_into(self, response: Response, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self._socket.settimeout(left)
        data = self._socket.recv(65536)
        if data:
            response.feed(data)
        else:
            response.end_of_input()

    def close(self) -> None:
        self._socket.close()


class Client:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._idle: list[_Connection] = []

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    # ---- any route of the OpenAPI document
    def get(self, path: str, **query: Any) -> Any:
        return self._run(ops.simple(ops.get(path, **query)))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._run(ops.simple(ops.post(path, body)))

    # ---- shared state under rules
    def begin(self, domain: str, entity: str, init: Mapping[str, Any] | None = None, *,
             operation_id: str | None = None, timeout: float = 30.0) -> Decision:
        body = {"domain": domain, "entity": entity, "init": init, "operationId": operation_id}
        return self._run(ops.decide("/v1/entities", body, timeout))

    def propose(self, domain: str, entity: str, role: str, action: Mapping[str, Any], *,
               operation_id: str | None = None, timeout: float = 30.0) -> Decision:
        """The decision, which is durable; "waiting" if there is none after `timeout` seconds.

        Repeat a call with the same `operation_id` after an error: nothing is decided twice.
        """
        body = {"domain": domain, "entity": entity, "role": role, "action": action, "operationId": operation_id}
        return self._run(ops.decide("/v1/propose", body, timeout))

    def propose_all(self, proposals: Sequence[Mapping[str, Any]], *, timeout: float = 30.0) -> list[Decision]:
        """Of each proposal {"domain", "entity", "role", "action", "operationId"?} its decision, as propose() has it. They
        are asked for together, in their order, and become durable together."""
        return self._run(ops.decide_all(proposals, timeout))

    def settled(self, decision: Decision, domain: str, entity: str, *, timeout: float | None = None) -> Decision:
        """The counselor's decision on an escalated proposal, when there is one; every other decision as it is."""
        return self._run(ops.settled(decision, domain, entity, timeout))

    def slice(self, domain: str, entity: str, role: str | None = None) -> SliceShown:
        return self._run(ops.simple(ops.get("/v1/slice", domain=domain, entity=entity, role=role)))

    def ledger(self, **query: Any) -> list[LedgerRow]:
        """Entries, oldest first; the query has domain, partition, entity, after and limit."""
        return self._run(ops.member(ops.get("/v1/ledger", **query), "entries"))

    # ---- what waits for people; the token has the role counselor or admin
    def queue(self, domain: str | None = None) -> list[QueueRow]:
        return self._run(ops.member(ops.get("/v1/queue", domain=domain), "queue"))

    def preview(self, row: QueueRow, counselor: str, *, edit: dict[str, Any] | None = None,
               base: str | None = None) -> CommitPreview:
        """What a commit would write and violate. Changes nothing."""
        body = ops.answer(row, counselor, "commit", edit, base, None)
        return self._run(ops.simple(ops.post("/v1/queue/preview", body, repeatable=True)))

    def commit(self, row: QueueRow, counselor: str, *, edit: dict[str, Any] | None = None, base: str | None = None,
              reason: str | None = None, timeout: float = 30.0) -> Decision:
        return self._run(ops.decide_queued(ops.answer(row, counselor, "commit", edit, base, reason), timeout))

    def reject(self, row: QueueRow, counselor: str, *, reason: str | None = None, timeout: float = 30.0) -> Decision:
        return self._run(ops.decide_queued(ops.answer(row, counselor, "reject", None, None, reason), timeout))

    # ---- the journal
    def journal_put(self, id: str, payload: Json, *, type: str | None = None, author: str | None = None,
                   scope: str | None = None) -> JournalWritten:
        return self._run(ops.put_journal(id, payload, type, author, scope))

    def journal_get(self, id: str, *, scope: str | None = None) -> JournalEntity:
        return self._run(ops.simple(ops.get("/v1/journal/get", id=id, scope=scope)))

    def journal_list(self, *, scope: str | None = None) -> list[JournalEntity]:
        return self._run(ops.member(ops.get("/v1/journal/list", scope=scope), "entities"))

    # ---- watches: each has a connection of its own, and connects again when that breaks
    def watch_ledger(self, *, domain: str | None = None, partition: str | None = None, entity: str | None = None,
                     after: str | None = None, timeout: float | None = None) -> Watch[LedgerRow | Parted]:
        """Each entry once, in the order of its partition; a Parted where entries that were taken are not in the ledger
        any more. To resume, store `position` of the watch, give it as `after`; "0": from the first entry on.
        """
        position = ops.position_of(after)
        steps = ops.watch_ledger(position, domain=domain, partition=partition, entity=entity, timeout=timeout)
        return Watch(_Runner(self, steps), position)

    def watch_slice(self, domain: str, entity: str, role: str | None = None, *, interval: float = 1.0,
                    timeout: float | None = None) -> Watch[SliceShown]:
        """The slice, and again each time it has changed. `interval` is for devices without ledgers."""
        return Watch(_Runner(self, ops.watch_slice(domain, entity, role, interval, timeout)))

    # ---- an agent whose program this is
    def serve(self, agent: str, think: Callable[[dict[str, Any]], Mapping[str, Any]], *, most: int | None = None) -> None:
        """Thinks for an agent of the node: `think` gets each question and returns {"looks": [...]}, {"actions": [...]},
        {"emits": [...]}, {"answer": "..."} or {"failed": "..."}. A question may come again; its first answer counts.

        Returns after `most` answers. An exception of `think` ends it; the question stays, for the next program.
        """
        last: tuple[str, Mapping[str, Any]] = ("", {})
        with Watch[Any](_Runner(self, ops.questions(agent))) as questions:
            while most is None or most > 0:
                question = next(questions)
                if question["question"] != last[0]:
                    last = (question["question"], think(question["asked"]))
                taken = self._run(ops.answer_question(agent, *last))
                most = most - 1 if taken and most is not None else most

    # ---- how steps are run
    def _run(self, steps: ops.Steps) -> Any:
        runner = _Runner(self, steps)
        try:
            runner.next_value()
        except StopIteration as end:
            return end.value
        finally:
            runner.close()

    def _call(self, call: ops.Call) -> Any:
        try:
            connection, fresh = self._idle.pop(), False
        except IndexError:
            connection, fresh = _Connection(self._endpoint), True
        try:
            response = self._exchange(connection, call)
        except (OSError, WireError) as failure:
            connection.close()
            if not fresh and call.repeatable and not isinstance(failure, TimeoutError):
                self.close()  # the node was started again, or ended idle connections
                return self._call(call)
            raise Unavailable("unavailable", f"the connection to {self._endpoint} broke: {failure}") from None
        except BaseException:
            connection.close()
            raise
        if response.reusable:
            self._idle.append(connection)
        else:
            connection.close()
        return value_of(response)

    @staticmethod
    def _exchange(connection: _Connection, call: ops.Call) -> Response:
        deadline, response = time.monotonic() + call.timeout, Response()
        connection.send(call.method, call.target, call.body)
        while not response.done:
            connection.read_into(response, deadline)
        return response


class _Stream(Incoming):
    """The answer to an Open, while it comes."""

    def __init__(self, endpoint: Endpoint, target: str, after: str) -> None:
        super().__init__()
        self._connection = _Connection(endpoint)
        try:
            self._connection.send("GET", target, None, after)
            deadline = time.monotonic() + CONNECT
            while not self.response.status:
                self._connection.read_into(self.response, deadline)
            if self.response.status != 200:
                while not self.response.done:
                    self._connection.read_into(self.response, deadline)
                raise error_of(self.response.status, self.response.take_body())
        except BaseException:
            self.close()
            raise

    def next(self, timeout: float | None) -> Event | None:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (event := self.take()) is None:
            idle = time.monotonic() + IDLE
            try:
                self._connection.read_into(self.response, idle if deadline is None else min(idle, deadline))
            except TimeoutError:
                if deadline is not None and time.monotonic() >= deadline:
                    return None
                raise
        return event

    def close(self) -> None:
        self._connection.close()


class _Runner(StreamOwner[_Stream]):
    """Performs the effects of steps."""

    def __init__(self, client: Client, steps: ops.Steps) -> None:
        super().__init__(steps)
        self._client = client

    def next_value(self) -> Any:
        """The next emitted value. StopIteration has the result of the steps."""
        effect = self._steps.send(None)
        while not isinstance(effect, ops.Emit):
            try:
                result = self._perform(effect)
            except (OSError, WireError, WitanError) as failure:
                effect = self._failed(failure)
            else:
                effect = self._steps.send(result)
        return effect.value

    def _perform(self, effect: Any) -> Any:
        match effect:
            case ops.Call():
                return self._client._call(effect)
            case ops.Pause():
                return time.sleep(effect.seconds)
            case ops.Open():
                self._close_stream()
                self._stream = _Stream(self._client._endpoint, effect.target, effect.after)
                return None
            case ops.Next() if self._stream is not None:
                return self._stream.next(effect.timeout)
        raise TypeError(f"no effect: {effect}")


class Watch(WatchBase[T]):
    """An iterator over a watch."""

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            return self._runner.next_value()
        except StopIteration:
            self.close()
            raise StopIteration from None

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
