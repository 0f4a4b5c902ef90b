"""The operations of a client as generators: each yields effects and receives their results, so that the blocking and
the asynchronous client share them. An effect is a Call, a Pause, or, in a watch, Open, Next and Emit.
"""
from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from .errors import Conflict, InvalidInput, Unavailable
from .types import DecisionMade, DecisionWaiting, LedgerRow, QueueRow, SliceShown
from .wire import Event

Decision = DecisionMade | DecisionWaiting
Steps = Generator[Any, Any, Any]

SERVER_WAIT = 120.0  # seconds that a node waits at most for one decision
PAGE = 1000
BATCH = 256  # proposals that a node takes at once
RETRY_FIRST, RETRY_MOST = 0.05, 2.0


@dataclass(frozen=True)
class Call:
    """One request. Its result is the JSON of the answer."""
    method: str
    target: str
    body: bytes | None = None
    timeout: float = 60.0
    repeatable: bool = True  # may be sent again after a broken connection


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Open:
    """Opens the stream of a watch in place of the one before. No result."""
    target: str
    after: str = ""  # the id of an event


@dataclass(frozen=True)
class Next:
    """The next Event; None if none came within `timeout`."""
    timeout: float | None = None


@dataclass(frozen=True)
class Emit:
    value: Any


@dataclass(frozen=True)
class Parted:
    """Of a watch: a takeover parted the log of `partition`. What was read of it from entry `start` on is not in the
    ledger: take it back. The entries that have these numbers now follow."""
    partition: str
    start: int  # `from` of the node's event


@dataclass
class Position:
    """How far a watch of ledgers is: the id of an event, for Last-Event-ID."""
    id: str = ""


def position_of(after: str | None) -> Position:
    if after is not None and not isinstance(after, str):  # a number for each partition, of an earlier version
        raise InvalidInput("invalidInput", f"{after!r} is no position of a watch", '"0": from the first entry on')
    return Position(after or "")


def get(path: str, **query: Any) -> Call:
    given = {name: str(value).lower() if isinstance(value, bool) else str(value)
             for name, value in query.items() if value is not None}
    return Call("GET", path + ("?" + urlencode(given, quote_via=quote) if given else ""))


def post(path: str, body: Mapping[str, Any], timeout: float = 60.0, repeatable: bool = False) -> Call:
    given = {name: value for name, value in body.items() if value is not None}
    return Call("POST", path, _text(given), timeout, repeatable)


def put_journal(id: str, payload: Any, type: str | None, author: str | None, scope: str | None) -> Steps:
    """A null payload is content; a member of the request that is not given is left out."""
    given = {"type": type, "author": author, "scope": scope}
    body = {"id": id, "payload": payload} | {name: value for name, value in given.items() if value is not None}
    return (yield Call("POST", "/v1/journal/put", _text(body)))


def _text(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def member(call: Call, name: str) -> Steps:
    return (yield call)[name]


def simple(call: Call) -> Steps:
    return (yield call)


def decide(path: str, body: dict[str, Any], timeout: float) -> Steps:
    """Asks until there is a decision or `timeout` seconds have passed. The operation id makes repetition harmless."""
    body["operationId"] = body.get("operationId") or f"py:{uuid.uuid4().hex}"
    deadline, pause = time.monotonic() + timeout, RETRY_FIRST
    while True:
        left = max(0.0, deadline - time.monotonic())
        body["waitMs"] = int(min(left, SERVER_WAIT) * 1000)
        try:
            decision: Decision = yield post(path, body, min(left, SERVER_WAIT) + 10.0, repeatable=True)
            if decision["outcome"] != "waiting" or time.monotonic() >= deadline:
                return decision
        except Unavailable:
            if time.monotonic() + pause >= deadline:
                raise
        yield Pause(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 2, RETRY_MOST)


def decide_all(proposals: Sequence[Mapping[str, Any]], timeout: float) -> Steps:
    """As decide(), for each proposal; those without a decision are asked for again."""
    asked = [{**one, "operationId": one.get("operationId") or f"py:{uuid.uuid4().hex}"} for one in proposals]
    decisions: list[Decision | None] = [None] * len(asked)
    deadline, pause = time.monotonic() + timeout, RETRY_FIRST
    while True:
        open_ = [i for i, one in enumerate(decisions) if one is None or one["outcome"] == "waiting"]
        left = max(0.0, deadline - time.monotonic())
        for start in range(0, len(open_), BATCH):
            some = open_[start:start + BATCH]
            body = {"proposals": [asked[i] for i in some], "waitMs": int(min(left, SERVER_WAIT) * 1000)}
            try:
                told = (yield post("/v1/proposals", body, min(left, SERVER_WAIT) + 10.0, repeatable=True))["outcomes"]
            except Unavailable:
                if time.monotonic() + pause >= deadline:
                    raise
                continue
            for i, one in zip(some, told):
                decisions[i] = one.get("decision") or one.get("waiting") or {
                    "operationId": asked[i]["operationId"], "outcome": "refused", "duplicate": False,
                    "message": one["refused"]}
        if all(one is not None and one["outcome"] != "waiting" for one in decisions) or time.monotonic() >= deadline:
            return decisions
        yield Pause(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 2, RETRY_MOST)


def settled(decision: Decision, domain: str, entity: str, timeout: float | None) -> Steps:
    """Waits until a counselor has decided an escalated proposal; another decision is returned as it is."""
    if decision["outcome"] != "escalated":
        return decision
    sequence = decision["ledgerSeq"]
    partition = (yield get("/v1/slice", domain=domain, entity=entity))["partition"]
    watch = watch_ledger(Position(), partition=partition, entity=entity, since=sequence, timeout=timeout)
    step = next(watch)
    while True:
        if not isinstance(step, Emit):
            try:
                step = watch.send((yield step))
            except StopIteration:
                return decision
            except Exception as failure:  # of the effect: the watch decides
                step = watch.throw(failure)
            continue
        if isinstance(step.value, Parted):
            if step.value.start <= sequence:
                watch.close()
                raise Conflict("conflict", f"a takeover set entry {sequence} of {partition} aside, which was escalated",
                               "propose again, with the same operation id")
        elif (step.value["entry"] or {}).get("escalation") == sequence:
            watch.close()
            return _decided(step.value)
        step = watch.send(None)


def _decided(row: LedgerRow) -> DecisionMade:
    entry = row["entry"]
    assert entry is not None
    return {"operationId": entry.get("operationId", ""), "outcome": entry["tag"], "duplicate": False,
            "ledgerSeq": row["seq"], "invariant": entry.get("invariant"), "message": entry.get("reason")}


def decide_queued(body: dict[str, Any], timeout: float) -> Steps:
    return decide("/v1/queue/decide", body | {"operationId": "queue:" + body["digest"][:32]}, timeout)


def answer(row: QueueRow, counselor: str, decision: str, edit: dict[str, Any] | None, base: str | None,
           reason: str | None) -> dict[str, Any]:
    """The body of a counselor's decision on exactly what `row` shows."""
    return {"domain": row["domain"], "entity": row["entity"], "digest": row["digest"], "counselor": counselor,
            "decision": decision, "edit": edit, "base": base, "reason": reason}


def watch_ledger(position: Position, *, domain: str | None = None, partition: str | None = None,
                 entity: str | None = None, since: int | None = None, timeout: float | None = None) -> Steps:
    """Emits each entry once, in the order of its partition, also across broken connections, and a Parted where what was
    emitted is not in the ledger any more.

    `position` says after which event the watch begins, and is moved along; empty: with new entries, and, of one
    partition, with those after entry `since`. Ends after `timeout` seconds.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    target = get("/v1/ledger/stream", domain=domain, partition=partition, entity=entity).target
    pause = RETRY_FIRST
    while True:
        came = False
        try:
            yield Open(target, position.id)
            while since is not None:
                page = (yield get("/v1/ledger", partition=partition, entity=entity, after=since, limit=PAGE))["entries"]
                for row in page:
                    yield Emit(row)
                since = page[-1]["seq"] if len(page) == PAGE else None
            pause = RETRY_FIRST
            while True:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return
                event: Event | None = yield Next(left)
                if event is None:
                    continue
                came = True
                position.id = event.id or position.id
                value = json.loads(event.data) if event.data else {}
                if event.name == "entry":
                    yield Emit(value)
                elif event.name == "parted":
                    yield Emit(Parted(value["partition"], value["from"]))
        except Unavailable:
            if came:
                continue  # the node gives what was missed in parts
            if deadline is not None and time.monotonic() + pause >= deadline:
                return
            yield Pause(pause)
            pause = min(pause * 2, RETRY_MOST)


def watch_slice(domain: str, entity: str, role: str | None, interval: float, timeout: float | None) -> Steps:
    """Emits the slice, and again each time it has changed. A device without ledgers is asked each `interval` seconds."""
    deadline = None if timeout is None else time.monotonic() + timeout
    shown, streams = None, True
    while True:
        try:
            if streams:
                yield Open(get("/v1/ledger/stream", domain=domain, entity=entity).target)
            while True:
                current = yield get("/v1/slice", domain=domain, entity=entity, role=role)
                if _differs(shown, current):
                    shown = current
                    yield Emit(current)
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return
                if streams:
                    yield Next(left)
                else:
                    yield Pause(interval if left is None else min(interval, left))
        except Unavailable as failure:
            if failure.status and streams:  # the node answers, but this device keeps no ledgers
                streams = False
                continue
            if deadline is not None and time.monotonic() >= deadline:
                return
            yield Pause(RETRY_MOST)


def questions(agent: str) -> Steps:
    """Emits each question to an agent's program. One that was answered while the node was away may come again."""
    pause = RETRY_FIRST
    while True:
        try:
            yield Open(get("/v1/agent/serve", agent=agent).target)
            pause = RETRY_FIRST
            while True:
                event: Event | None = yield Next()
                if event is not None and event.name == "question":
                    yield Emit(json.loads(event.data))
        except Unavailable:
            yield Pause(pause)
            pause = min(pause * 2, RETRY_MOST)


def answer_question(agent: str, question: str, answer: Any) -> Steps:
    """A node that is gone asks again, so its absence is no error."""
    try:
        body = {"agent": agent, "question": question, "answer": answer}
        return (yield post("/v1/agent/answer", body, repeatable=True))["taken"]
    except Unavailable:
        return False


def _differs(old: SliceShown | None, new: SliceShown) -> bool:
    return old is None or old["state"] != new["state"] or old["frozen"] != new["frozen"]
