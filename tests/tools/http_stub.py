"""HTTP servers for tests of tools outside: `with mcp(behaviour) as url`, `with api() as (url, asked)`. Each is a thread."""
import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}, "additionalProperties": False}
TOOLS = [{"name": "get", "inputSchema": SCHEMA}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "null")

    def answer(self, status, value=None, **headers):
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        with contextlib.suppress(OSError):
            self.end_headers()
            self.wfile.write(data)

    def events(self, text):
        """A stream of events that ends where the connection does."""
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", "connection": "close", "mcp-session-id": self.server.session}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            for part in text if not isinstance(text, str) else [text]:
                self.wfile.write(part.encode())
                self.wfile.flush()


class Mcp(Handler):
    """Speaks 2025-11-25 with sessions. Behaviours: plain, breaks (the stream, before the answer), forgets (the session, once), endless
    (events that are no answer), early (the answer, and the stream stays open)."""

    def do_GET(self):
        after = self.headers.get("last-event-id")
        self.server.resumed.append(after)
        result = {"jsonrpc": "2.0", "id": self.server.pending, "result": {"content": [{"type": "text", "text": "taken up"}]}}
        # The second break is before the answer too.
        self.events(f"id: e2\nretry: 20\ndata: \n\n" if after == "e1" else f"id: e3\ndata: {json.dumps(result)}\n\n")

    def do_POST(self):
        message, server = self.body(), self.server
        method, answer = message["method"], {"jsonrpc": "2.0", "id": message.get("id")}
        if method == "initialize":
            server.sessions += 1
            server.session = f"s{server.sessions}"
            return self.answer(200, {**answer, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "stub", "version": "1"}}},
                               mcp_session_id=server.session)
        if "id" not in message:
            return self.answer(202)
        if method == "tools/list":
            return self.answer(200, {**answer, "result": {"tools": TOOLS}})
        if method != "tools/call":
            return self.answer(200, {**answer, "error": {"code": -32601, "message": "no such method"}})
        if server.behaviour == "forgets":
            return self.answer(404, {"jsonrpc": "2.0", "error": {"code": -32001, "message": "no such session"}})
        done = {**answer, "result": {"content": [{"type": "text", "text": "got it"}]}}
        if server.behaviour == "breaks":
            server.pending = message["id"]
            return self.events("id: e1\nretry: 20\ndata: \n\n")
        if server.behaviour == "endless":
            return self.events(f": {'x' * 1000}\n" for _ in iter(int, 1))
        if server.behaviour == "early":
            return self.events(part() for part in (lambda: f"data: {json.dumps(done)}\n\n", server.wait_for_the_end))
        self.answer(200, done)


class Api(Handler):
    def do_POST(self):
        self.server.asked.append((self.path, dict(self.headers), self.body()))
        status = self.server.statuses.get(self.path, 200)
        self.answer(status, (self.server.says or {"came": self.path}) if status == 200 else {"error": "it is so"})

    do_GET = do_PUT = do_POST


@contextlib.contextmanager
def serving(handler, **state):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.over = threading.Event()
    server.wait_for_the_end = lambda: server.over.wait(30) and ""
    server.__dict__.update(state)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", server
    finally:
        server.over.set()
        server.shutdown()


def mcp(behaviour):
    return serving(Mcp, behaviour=behaviour, session="", sessions=0, resumed=[], pending=None)


def api(**statuses):
    return serving(Api, asked=[], says=None, statuses={f"/{name}": status for name, status in statuses.items()})
