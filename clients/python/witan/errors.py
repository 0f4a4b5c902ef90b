"""Errors of the client: what the node answered, or why it could not be reached."""
from __future__ import annotations

import json
from typing import Any

from .wire import Response


class WitanError(Exception):
    """`code` is one of the node's: invalidInput, notFound, conflict, unauthorised, corrupt, ioFailed, unavailable."""

    def __init__(self, code: str, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message + (f" ({hint})" if hint else ""))
        self.code, self.message, self.hint, self.status = code, message, hint, status


class InvalidInput(WitanError):
    pass


class NotFound(WitanError):
    pass


class Conflict(WitanError):
    pass


class Unauthorised(WitanError):
    pass


class Unavailable(WitanError):
    """The node does not answer, or cannot carry out the request now. Ask again with the same operation id."""


_KINDS: dict[str, type[WitanError]] = {"invalidInput": InvalidInput, "notFound": NotFound, "conflict": Conflict,
                                       "unauthorised": Unauthorised, "unavailable": Unavailable}


def error_of(status: int, body: bytes) -> WitanError:
    """The error of an answer whose status is not 2xx."""
    try:
        error = json.loads(body)["error"]
        code, message, hint = str(error["code"]), str(error["message"]), str(error.get("hint", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        code, message, hint = "unavailable", f"the node answered {status}", "see its log"
    return _KINDS.get(code, WitanError)(code, message, hint, status)


def value_of(response: Response) -> Any:
    """The JSON of an answer. Raises its error."""
    body = response.take_body()
    if response.status // 100 != 2:
        raise error_of(response.status, body)
    try:
        return json.loads(body)
    except ValueError:
        raise Unavailable("unavailable", "the node's answer is no JSON", "see its log", response.status) from None
