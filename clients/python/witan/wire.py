"""HTTP/1.1 and server-sent events as bytes in and values out, without input or output of its own.

A Response reads one answer; the caller feeds it with what arrives. Limits hold for everything that a node sends. Not
thread-safe.
"""
from __future__ import annotations

from dataclasses import dataclass

HEAD_MAX = 64 * 1024
BODY_MAX = 64 * 1024 * 1024
EVENT_MAX = 8 * 1024 * 1024


class WireError(Exception):
    """The peer sent something that is no HTTP, or too much of it."""


def request_bytes(method: str, target: str, host: str, token: str, body: bytes | None, after: str = "") -> bytes:
    if any(not "!" <= character <= "~" for character in method + target + host + token + after):
        raise ValueError("target, host, token and the id of an event are of printable characters without spaces")
    head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
    if after:
        head += f"Last-Event-ID: {after}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return (head + "\r\n").encode("ascii") + (body or b"")


@dataclass
class Event:
    id: str
    name: str
    data: str  # empty: there is an id alone, which says where the reader is


class Response:
    """One answer. `status` is 0 until the head has come; `done` is true after the last byte of the body."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.done = False
        self._in = bytearray()
        self._body = bytearray()
        self._left = 0  # bytes of the body, or of the chunk, that are still to come
        self._state = "head"

    @property
    def reusable(self) -> bool:
        return self.done and not self._in and self.headers.get("connection", "").lower() != "close"

    def feed(self, data: bytes) -> None:
        self._in += data
        while self._step():
            pass

    def end_of_input(self) -> None:
        if self._state == "until_end":
            self.done = True
        if not self.done:
            raise WireError("the connection ended within an answer")

    def take_body(self) -> bytes:
        body = bytes(self._body)
        self._body.clear()
        return body

    def _step(self) -> bool:
        """Reads one part; false: more bytes are needed."""
        if self.done:
            return False
        if self._state == "head":
            return self._read_head()
        if self._state in ("body", "chunk", "until_end"):
            return self._read_body()
        line = self._line(256)
        if line is None:
            return False
        if self._state == "chunk_end":
            if line:
                raise WireError("a chunk has more bytes than it announced")
            self._state = "chunk_size"
        elif self._state == "chunk_size":
            self._left = self._number(line.split(b";", 1)[0].strip(), 16)
            self._state = "chunk" if self._left else "trailer"
        elif not line:  # the end of the trailer
            self.done = True
        return True

    def _line(self, limit: int) -> bytes | None:
        end = self._in.find(b"\r\n", 0, limit + 2)
        if end < 0:
            if len(self._in) > limit:
                raise WireError("a line is too long")
            return None
        line = bytes(self._in[:end])
        del self._in[:end + 2]
        return line

    def _read_head(self) -> bool:
        end = self._in.find(b"\r\n\r\n", 0, HEAD_MAX + 4)
        if end < 0:
            if len(self._in) > HEAD_MAX:
                raise WireError("the head of an answer is too long")
            return False
        lines = bytes(self._in[:end]).decode("latin-1").split("\r\n")
        del self._in[:end + 4]
        words = lines[0].split(" ", 2)
        if len(words) < 2 or words[0] != "HTTP/1.1" or len(words[1]) != 3:
            raise WireError("this is no HTTP/1.1")
        status = self._number(words[1].encode("latin-1"), 10)
        if 100 <= status < 200:
            return True
        self.status = status
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise WireError("a header line has no colon")
            self.headers[name.strip().lower()] = value.strip()
        self._begin_body()
        return True

    def _begin_body(self) -> None:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._state = "chunk_size"
        elif "content-length" in self.headers:
            self._left = self._number(self.headers["content-length"].encode("latin-1"), 10)
            if self._left > BODY_MAX:
                raise WireError("the body of an answer is too long")
            self._state = "body"
            self.done = self._left == 0
        else:
            self._state = "until_end"

    def _read_body(self) -> bool:
        most = len(self._in) if self._state == "until_end" else min(self._left, len(self._in))
        if not most:
            return False
        if len(self._body) + most > BODY_MAX:
            raise WireError("the body of an answer is too long")
        self._body += self._in[:most]
        del self._in[:most]
        self._left -= most
        if self._state != "until_end" and self._left == 0:
            self.done = self._state == "body"
            self._state = "chunk_end"
        return True

    @staticmethod
    def _number(word: bytes, base: int) -> int:
        digits = b"0123456789abcdef"[:base]
        if not word or len(word) > 15 or any(byte not in digits for byte in word.lower()):
            raise WireError("a length is no number")
        return int(word, base)


class Events:
    """Reads server-sent events (HTML Living Standard, 9.2) from the body of an answer."""

    def __init__(self) -> None:
        self._in = bytearray()
        self._name, self._id = "", ""
        self._placed = False
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        self._in += data
        found = []
        *lines, rest = bytes(self._in).split(b"\n")
        self._in = bytearray(rest)
        if len(self._in) > EVENT_MAX:
            raise WireError("an event is too long")
        for line in lines:
            event = self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
            if event is not None:
                found.append(event)
        return found

    def _line(self, line: str) -> Event | None:
        if not line:
            whole = bool(self._data) or self._placed
            event = Event(self._id, self._name or "message", "\n".join(self._data)) if whole else None
            self._name, self._data, self._size, self._placed = "", [], 0, False
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._size += len(value)
            if self._size > EVENT_MAX:
                raise WireError("an event is too long")
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id":
            self._id, self._placed = value, True
        return None
