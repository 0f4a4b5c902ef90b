"""Finds a node as the command line does: WITAN_URL with WITAN_TOKEN, else the files of a data directory."""
from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Literal

from .errors import InvalidInput, Unauthorised, Unavailable, WitanError

Role = Literal["observer", "operator", "counselor", "admin"]


@dataclass(frozen=True)
class Endpoint:
    """`path` is a Unix socket; without it, `host` and `port`. An IPv6 address has no brackets here."""
    token: str
    path: str = ""
    host: str = "localhost"
    port: int = 0

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return "localhost" if self.path else f"{host}:{self.port}"

    def __repr__(self) -> str:  # without the token
        return f"Endpoint({self.path or self.host_header})"


def endpoint_of(address: str, token: str) -> Endpoint:
    """Of "unix:/path", "http://HOST:PORT" or "HOST:PORT"."""
    if address.startswith("unix:"):
        return Endpoint(token, path=address[len("unix:"):])
    host, colon, port = address.removeprefix("http://").rstrip("/").rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise InvalidInput("invalidInput", f"{address} is no address", "unix:/path, or http://HOST:PORT")
    return Endpoint(token, host=host.removeprefix("[").removesuffix("]"), port=int(port))


def locate(directory: str | os.PathLike[str] | None = None, role: Role = "operator") -> Endpoint:
    url, token = os.environ.get("WITAN_URL"), os.environ.get("WITAN_TOKEN")
    if directory is None and url and token:
        return endpoint_of(url, token)
    path = pathlib.Path(directory or _default_directory())
    try:
        address = _member(path / "control.json", "address")
    except FileNotFoundError:
        raise Unavailable("unavailable", f"no node runs on {path}", f"start it: witan up --dir {path}") from None
    try:
        return endpoint_of(address, _member(path / "control.tokens", role))
    except OSError as failure:
        raise Unauthorised("unauthorised", f"cannot read the tokens of {path}: {failure.strerror}") from None


def _member(path: pathlib.Path, name: str) -> str:
    try:
        return str(json.loads(path.read_text())[name])
    except (ValueError, KeyError, TypeError):
        raise WitanError("corrupt", f"{path} has no {name}", "start the node again: it writes this file") from None


def _default_directory() -> pathlib.Path:
    if named := os.environ.get("WITAN_DIR"):
        return pathlib.Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (pathlib.Path(data) if data else pathlib.Path.home() / ".local/share") / "witan"
