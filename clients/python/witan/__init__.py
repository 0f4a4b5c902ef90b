"""Client of a Witan node. Standard library only.

    import witan
    with witan.connect() as node:
        node.begin("budget", "trip")
        print(node.propose("budget", "trip", "A", {"type": "SpendA", "n": 60000}))

connect_async() has the same methods for asyncio. Answers are the JSON of the HTTP API, with types in witan.types.
"""
from .async_client import AsyncClient, AsyncWatch, connect_async
from .client import Client, Watch, connect
from .errors import Conflict, InvalidInput, NotFound, Unauthorised, Unavailable, WitanError
from .operations import Decision, Parted

__all__ = ["AsyncClient", "AsyncWatch", "Client", "Conflict", "Decision", "InvalidInput", "NotFound", "Parted",
           "Unauthorised", "Unavailable", "Watch", "WitanError", "connect", "connect_async"]
