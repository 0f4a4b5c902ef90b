"""What the runners and the watches of both clients share: who owns the stream, and when it is closed."""
from __future__ import annotations

from collections import deque
from typing import Any, Generic, Protocol, TypeVar

from . import operations as ops
from .errors import Unavailable
from .wire import Event, Events, Response, WireError

IDLE = 60.0  # seconds; the node sends a comment each 15 seconds on a stream
CONNECT = 5.0
T = TypeVar("T")


class Closable(Protocol):
    def close(self) -> None: ...


S = TypeVar("S", bound=Closable)


class Incoming:
    """The events of a stream's response, as far as it has come."""

    def __init__(self) -> None:
        self.response = Response()
        self._events, self._ready = Events(), deque[Event]()

    def take(self) -> Event | None:
        """The next event; None if more has to be read first."""
        self._ready.extend(self._events.feed(self.response.take_body()))
        if self._ready:
            return self._ready.popleft()
        if self.response.done:
            raise WireError("the stream has ended")
        return None


class StreamOwner(Generic[S]):
    """Steps and the one stream that they may have open."""

    def __init__(self, steps: ops.Steps) -> None:
        self._steps = steps
        self._stream: S | None = None

    def _failed(self, failure: Exception) -> Any:
        """Tells the steps. Returns their next effect."""
        broken = isinstance(failure, (OSError, WireError))
        return self._steps.throw(Unavailable("unavailable", f"the stream broke: {failure}") if broken else failure)

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def close(self) -> None:
        self._steps.close()
        self._close_stream()


class WatchBase(Generic[T]):
    def __init__(self, runner: Closable, position: ops.Position | None = None) -> None:
        self._position = position or ops.Position()
        self._runner: Any = runner

    @property
    def position(self) -> str:
        """Of a ledger's watch: after what was taken last. Empty before anything came."""
        return self._position.id

    def close(self) -> None:
        self._runner.close()
