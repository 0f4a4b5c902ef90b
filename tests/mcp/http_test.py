#!/usr/bin/env python3
"""http_test.py PROGRAM: /mcp of a real node: tokens, one role and not more, Host and Origin, sessions, floods, bad bytes."""
import base64
import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from running_node import running

PROGRAM = sys.argv[1]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
SECRET = "of-another-role"


class Stream:
    def __init__(self, answer):
        self.answer = answer

    def message(self):
        """The next one; None: the stream has ended."""
        line = next((line for line in iter(self.answer.readline, b"") if line.startswith(b"data:")), None)
        return line and json.loads(line[5:])


class Node:
    def __init__(self, directory):
        file = json.load(open(directory + "/control.json"))
        self.host, self.port = file["address"].rsplit(":", 1)
        self.tokens = json.load(open(directory + "/control.tokens"))

    def send(self, body, token, method="POST", path="/mcp", **headers):
        """The status, the headers and the body of an answer."""
        connection = http.client.HTTPConnection(self.host, int(self.port), timeout=30)
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        if token:
            sent["Authorization"] = "Bearer " + token
        try:
            connection.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body), sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    @contextlib.contextmanager
    def stream(self, body, token, **headers):
        """The answer to a message as a stream of messages."""
        connection = http.client.HTTPConnection(self.host, int(self.port), timeout=30)
        connection.request("POST", "/mcp", json.dumps(body), {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Authorization": "Bearer " + token, **headers})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream"), answer.headers
        try:
            yield Stream(answer)
        finally:
            answer.close()
            connection.close()

    def ask(self, token, method, name=None, **params):
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if name:
            params["name"] = name
        if method in ("tools/call", "resources/read"):
            headers["Mcp-Name"] = name or params["uri"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        status, _, text = self.send(message, token, **headers)
        return status, text

    def call(self, token, name, **arguments):
        return json.loads(self.ask(token, "tools/call", name, arguments=arguments)[1])["result"]["structuredContent"]


def tokens(node):
    operator, counselor = node.tokens["operator"], node.tokens["counselor"]
    assert node.ask("", "server/discover")[0] == 401
    assert node.ask("nonsense", "server/discover")[0] == 401
    names = lambda token: {tool["name"] for tool in json.loads(node.ask(token, "tools/list")[1])["result"]["tools"]}
    assert "propose" in names(operator) and "answer" not in names(operator)
    assert "answer" in names(counselor) and "propose" not in names(counselor)
    assert node.call(operator, "begin", domain="budget", entity="team")["outcome"] == "initialised"
    spent = node.call(operator, "budget.SpendA", entity="team", action={"n": 60000}, operationId="one")
    again = node.call(operator, "budget.SpendA", entity="team", action={"n": 60000}, operationId="one")
    assert spent["outcome"] == "approved" and again["duplicate"] and again["ledgerSeq"] == spent["ledgerSeq"], again
    status, text = node.ask(counselor, "tools/call", "propose", arguments={})
    assert status == 400 and json.loads(text)["error"]["code"] == -32602, text
    for entity in (["team"], None, 7, {}):
        text = node.ask(operator, "tools/call", "slice", arguments={"domain": "budget", "entity": entity, "role": "A"})[1]
        assert "entity: expected text" in text, text


def participant(node, directory):
    """A token of one role opens /mcp alone, and nothing of another role comes out of it."""
    operator = node.tokens["operator"]
    made = subprocess.run([PROGRAM, "mcp", "--as", "moderation.UserNotice", "--print-token", "--dir", directory], check=True,
                          capture_output=True, text=True)
    token, case = made.stdout.strip(), "case"
    node.call(operator, "begin", domain="moderation", entity=case)
    label = {"entityType": "Post", "entity": SECRET, "label": "scam_link", "reason": SECRET}
    assert node.call(operator, "moderation.ApplyLabel", entity=case, action=label)["outcome"] == "approved"
    for path in ("/v1/status", "/v1/slice?domain=moderation&entity=" + case, "/v1/ledger"):
        assert node.send(None, token, "GET", path)[0] == 401, path
    tools = json.loads(node.ask(token, "tools/list")[1])["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["moderation.DraftNotice", "slice", "why"], tools
    seen = ""
    everything = json.loads(node.ask(node.tokens["admin"], "tools/list")[1])["result"]["tools"]
    for tool in everything:
        for arguments in ({"entity": case}, {"entity": case, "role": "SignalTriage"}, {"domain": "moderation", "entity": case}):
            seen += node.ask(token, "tools/call", tool["name"], arguments=arguments)[1]
    assert SECRET in node.ask(operator, "tools/call", "why", arguments={"entity": case})[1]
    assert SECRET not in seen, seen
    head, _, proof = token.rpartition("-")
    other = head.replace("UserNotice", "SignalTriage")
    forged = [other + "-" + proof, head, head + "-", head + "-" + proof[:-1] + ("0" if proof[-1] != "0" else "1"),
              token + "0", "participant--" + proof, "participant-" + proof]
    for one in forged:
        assert node.ask(one, "server/discover")[0] == 401, one


def until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


BAN = {"a": "A1", "kind": "BAN", "policy": "csam", "item": "p1", "evidence": ["L1"]}


def banned(node, directory, case):
    """A case in which a ban escalates; tokens of the role that proposes it, without and with a counselor at the client."""
    operator = node.tokens["operator"]
    node.call(operator, "begin", domain="moderation", entity=case)
    label = {"entityType": "Post", "entity": "p1", "label": "scam_link", "reason": "rule Scam_v2"}
    notice = {"n": "N1", "action": "A1", "facts": "link", "clause": "Scams 4.2", "redress": "appeal"}
    node.call(operator, "moderation.ApplyLabel", entity=case, action=label)
    node.call(operator, "moderation.DraftNotice", entity=case, action=notice)
    [counselor, *_] = node.call(operator, "domain.show", domain="moderation")["counselors"]
    alone, token = [subprocess.run([PROGRAM, "mcp", "--as", "moderation.Enforcement", *more, "--print-token", "--dir",
                                    directory], check=True, capture_output=True, text=True).stdout.strip()
                    for more in ([], ["--counselor", counselor])]
    return counselor, alone, token


def decides(node, directory):
    """An escalation asks the counselor at the client, who decides with the token of that role and name."""
    case = "decides"
    counselor, alone, token = banned(node, directory, case)
    assert node.ask(token.replace("Enforcement", "SignalTriage"), "server/discover")[0] == 401
    assert node.ask(alone.replace("Enforcement", "Enforcement/" + counselor), "server/discover")[0] == 401
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    asked = {"arguments": {"entity": case, "action": BAN}, "_meta": meta}
    answers = {"decision": {"action": "accept", "content": {"decision": "reject", "reason": "no"}}}
    ask = lambda who, **more: json.loads(node.ask(who, "tools/call", "moderation.TakeAction", **{**asked, **more})[1])
    first = ask(token)["result"]
    assert first["resultType"] == "input_required", first
    state = first["requestState"]
    body, _, proof = state.rpartition(".")
    opened = json.loads(base64.b64decode(body))
    forged = json.loads(json.dumps(opened))
    forged["content"]["entity"] = "another"
    later = {**opened, "number": opened["number"] + 1}
    sealed = lambda content: base64.b64encode(json.dumps(content, separators=(",", ":")).encode()).decode()
    for wrong in (".", "x", body, state[:-1] + ("0" if proof[-1] != "0" else "1"), sealed(forged) + "." + proof,
                  sealed(later) + "." + proof, sealed(opened) + ".", "." + proof, state + state, "\0" + state):
        refused = ask(token, inputResponses=answers, requestState=wrong)
        assert refused["error"]["code"] == -32602, (wrong, refused)
    other = {"entity": "another", "action": BAN}
    for who, more in ((alone, {}), (token, {"arguments": other}), (token, {"arguments": {**asked["arguments"], "runId": "r"}}),
                      (node.tokens["admin"], {})):  # of another client, of another call
        stolen = ask(who, inputResponses=answers, requestState=state, **more)
        assert stolen["error"]["code"] == -32602, stolen
    done = ask(token, inputResponses=answers, requestState=first["requestState"])["result"]
    assert done["structuredContent"]["outcome"] == "cRejected", done
    again = ask(token, inputResponses=answers, requestState=first["requestState"])
    assert again["error"]["code"] == -32602, again
    assert ask(alone)["result"]["structuredContent"]["outcome"] == "escalated"


def decides_in_a_session(node, directory):
    """The same in the older era: the question comes down the stream of the call, its answer as a message of its own."""
    case = "decides-legacy"
    counselor, alone, token = banned(node, directory, case)
    hello = lambda capabilities: {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}}
    begin = lambda who, **capabilities: {"Mcp-Session-Id": node.send(hello(capabilities), who)[1]["mcp-session-id"]}
    session, other = begin(token, elicitation={}), begin(token, elicitation={})
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "moderation.TakeAction", "arguments": {"entity": case, "action": BAN}}}
    answer = lambda number, content: {"jsonrpc": "2.0", "id": number,
                                      "result": {"action": "accept", "content": content}}
    with node.stream(call, token, **session) as stream:
        question = stream.message()
        assert question["method"] == "elicitation/create" and "csam" in question["params"]["message"], question
        [decision] = [word for word in question["params"]["requestedSchema"]["properties"]["decision"]["enum"] if word != "reject"]
        right = answer(question["id"], {"decision": decision, "reason": "seen by a person"})
        # Nothing that another one says, and no other question's number, counts.
        assert node.send(right, alone, **session)[0] == 404
        assert node.send(right, token)[0] == 400
        assert node.send(right, token, **other)[0] == 202
        for forged in ("question-99", question["id"] + "0", 1, ""):
            assert node.send({**right, "id": forged}, token, **session)[0] in (202, 400)
        assert [row["tag"] for row in node.call(token, "why", entity=case)["entries"]] == ["escalated"]
        assert node.send(right, token, **session)[0] == 202
        done = stream.message()
        assert done["id"] == 7 and done["result"]["structuredContent"]["outcome"] == "cCommitted", done
        assert stream.message() is None
        assert node.send(right, token, **session)[0] == 202  # again: there is no such question any more
    fate = node.call(token, "why", entity=case)["entries"]
    assert [row["tag"] for row in fate] == ["escalated", "cCommitted"] and fate[1]["reason"] == "seen by a person", fate
    # A client that goes away amid the question, or that can show no form, leaves the proposal in the queue.
    for number, capabilities in enumerate(({"elicitation": {}}, {})):
        case = "left-" + str(number)
        banned(node, directory, case)
        call["params"]["arguments"]["entity"] = case
        session = begin(token, **capabilities)
        if capabilities:
            with node.stream(call, token, **session) as stream:
                right = answer(stream.message()["id"], {"decision": "reject", "reason": "no"})
            ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
            until(lambda: node.send(ping, token, **session)[0] == 200)  # its id is free once the node knows
            assert node.send(right, token, **session)[0] == 202
        else:
            escalated = json.loads(node.send(call, token, **session)[2])["result"]["structuredContent"]
            assert escalated["outcome"] == "escalated", escalated
        assert [row["tag"] for row in node.call(token, "why", entity=case)["entries"]][:1] == ["escalated"]
        queue = node.call(node.tokens["counselor"], "inbox")["queue"]
        assert case in [row["entity"] for row in queue], queue


def subscribes(node):
    """A stream of each era tells of a change, and the resource shows it."""
    operator = node.tokens["operator"]
    node.call(operator, "begin", domain="budget", entity="watched")
    uri = "witan://budget/watched/slice/A"
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "Authorization": "Bearer " + operator}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    session = {"Mcp-Session-Id": node.send(hello, operator)[1]["mcp-session-id"]}
    subscribe = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri}}
    assert node.send(subscribe, operator, **session)[0] == 200
    listen = {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen",
              "params": {"_meta": META, "notifications": {"resourceSubscriptions": [uri]}}}
    streams = []
    for method, body, more in (("POST", json.dumps(listen), {"MCP-Protocol-Version": "2026-07-28",
                                                             "Mcp-Method": "subscriptions/listen"}), ("GET", None, session)):
        connection = http.client.HTTPConnection(node.host, int(node.port), timeout=30)
        connection.request(method, "/mcp", body, {**headers, **more})
        streams.append((connection, connection.getresponse()))
        assert streams[-1][1].status == 200
    told = lambda stream: json.loads(next(line for line in iter(stream.readline, b"") if line.startswith(b"data:"))[5:])
    assert told(streams[0][1])["method"] == "notifications/subscriptions/acknowledged"
    node.call(operator, "budget.SpendA", entity="watched", action={"n": 5})
    for _, stream in streams:
        update = told(stream)
        assert update["method"] == "notifications/resources/updated" and update["params"]["uri"] == uri, update
    for connection, _ in streams:
        connection.close()
    status, text = node.ask(operator, "resources/read", uri=uri)
    assert json.loads(json.loads(text)["result"]["contents"][0]["text"])["state"]["spentA"] == 5, text


def doors(node):
    operator = node.tokens["operator"]
    discover = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    right = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    assert node.send(discover, operator, **right)[0] == 200
    assert node.send(discover, operator, Host="evil.example", **right)[0] == 421
    for origin in ("http://evil.example", "http://localhost:1@evil.example", "http://127.0.0.1:7923, http://evil.example"):
        assert node.send(discover, operator, Origin=origin, **right)[0] == 403
    assert node.send(discover, operator, Origin="http://localhost:1", **right)[0] == 200
    assert node.send(None, operator, "GET")[0] == 405


def sessions(node):
    operator, observer = node.tokens["operator"], node.tokens["observer"]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    status, headers, _ = node.send(hello, operator)
    session = headers["mcp-session-id"]
    assert status == 200 and node.send(listing, operator, **{"Mcp-Session-Id": session})[0] == 200
    assert node.send(listing, observer, **{"Mcp-Session-Id": session})[0] == 404  # of another token
    assert node.send(None, operator, "DELETE", **{"Mcp-Session-Id": session})[0] == 200
    assert node.send(listing, operator, **{"Mcp-Session-Id": session})[0] == 404
    for _ in range(200):  # sessions that are left behind make room
        assert node.send(hello, operator)[0] == 200


def hostile(node):
    operator = node.tokens["operator"]
    legacy = {"MCP-Protocol-Version": "2025-11-25"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    bodies = [b"", b"{", b'"\xff"', b"[" * 100_000, b"{\"a\":" * 50_000, json.dumps([ping] * 10_000).encode(),
              b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"method":"ping"}', b'"' + b"x" * 3_000_000 + b'"']
    for body in bodies:
        assert node.send(body, operator, **legacy)[0] == 400, body[:60]
    try:
        assert node.send(b'"' + b"x" * 8_000_000 + b'"', operator, **legacy)[0] == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # the node closes before it has read all of it
    flood = [socket.create_connection((node.host, int(node.port))) for _ in range(100)]
    for one in flood:
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{")
    assert node.ask(operator, "server/discover")[0] == 200
    for one in flood:
        assert one.recv(12) == b"HTTP/1.1 401"  # without waiting for a body
        one.close()
    assert node.ask(operator, "server/discover")[0] == 200


def main():
    with running(PROGRAM) as directory:
        node = Node(directory)
        tokens(node)
        participant(node, directory)
        decides(node, directory)
        decides_in_a_session(node, directory)
        subscribes(node)
        doors(node)
        sessions(node)
        hostile(node)


if __name__ == "__main__":
    main()
