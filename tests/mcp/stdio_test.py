#!/usr/bin/env python3
"""stdio_test.py PROGRAM: drives `witan mcp` against a real node in both eras, with each role."""
import json
import subprocess
import sys

sys.dont_write_bytecode = True
from running_node import running

PROGRAM = sys.argv[1]
CAPABILITIES = {"elicitation": {}}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": CAPABILITIES}


class Session:
    def __init__(self, directory, role, modern, *options):
        self.modern, self.id, self.seen, self.told, self.decide = modern, 0, "", [], None
        self.process = subprocess.Popen([PROGRAM, "mcp", "--dir", directory, "--role", role, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        if not modern:
            self.ask("initialize", protocolVersion="2025-11-25", capabilities=CAPABILITIES, clientInfo={"name": "t", "version": "1"})
            self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, method, **params):
        self.id += 1
        if self.modern:
            params["_meta"] = META
        message = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        while (answer := self.read()).get("id") != self.id or "method" in answer:
            if "id" in answer:  # the server asks, in the legacy era
                self.asked = answer["params"]
                self.send({"id": answer["id"], "result": self.decide})
            else:
                self.told.append(answer)
        return answer

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def read(self):
        line = self.process.stdout.readline()
        self.seen += line
        return json.loads(line)

    def updated(self, uri):
        """Waits until the server says that a resource changed."""
        while not self.told:
            self.told.append(self.read())
        told = self.told.pop(0)
        assert told["method"] == "notifications/resources/updated" and told["params"]["uri"] == uri, told
        return told["params"]

    def tools(self):
        found, more = [], {}
        while True:
            result = self.ask("tools/list", **more)["result"]
            found += result["tools"]
            if "nextCursor" not in result:
                return {tool["name"]: tool for tool in found}
            more = {"cursor": result["nextCursor"]}

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0
        assert self.process.stdout.read() == ""


def works(directory, modern):
    node = Session(directory, "operator", modern)
    entity = "modern" if modern else "legacy"
    tools = node.tools()
    assert {"slice", "propose", "begin", "inbox", "why", "preview", "journal.put", "budget.SpendA"} <= set(tools), tools
    assert "answer" not in tools
    assert list(tools) == sorted(tools)
    assert node.call("begin", domain="budget", entity=entity)["structuredContent"]["outcome"] == "initialised"
    spent = node.call("budget.SpendA", entity=entity, action={"n": 60000}, operationId=entity)["structuredContent"]
    assert spent["outcome"] == "approved" and not spent["duplicate"], spent
    again = node.call("budget.SpendA", entity=entity, action={"n": 60000}, operationId=entity)["structuredContent"]
    assert again["duplicate"] and again["ledgerSeq"] == spent["ledgerSeq"], again
    much = node.call("propose", domain="budget", entity=entity, role="B", action={"type": "SpendB", "n": 60000})
    assert much["structuredContent"]["invariant"] == "BUDGET_CAP", much
    why = node.call("why", domain="budget", entity=entity)["structuredContent"]["entries"]
    assert [row["entry"]["tag"] for row in why] == ["approved", "rejected"], why
    assert node.call("journal.put", id="note", payload={"n": 1}, type="note")["structuredContent"]["id"] == "note"
    assert node.call("slice", domain="nowhere", entity="x")["isError"]
    assert node.ask("tools/call", name="answer", arguments={})["error"]["code"] == -32602
    node.end()


def escalates(directory):
    node, person = Session(directory, "operator", True), Session(directory, "counselor", True)
    case = "case"
    node.call("begin", domain="moderation", entity=case)
    for tool, action in (
            ("ApplyLabel", {"entityType": "Post", "entity": "p1", "label": "scam_link", "reason": "rule Scam_v2"}),
            ("DraftNotice", {"n": "N1", "action": "A1", "facts": "link", "clause": "Scams 4.2", "redress": "appeal"}),
            ("TakeAction", {"a": "A1", "kind": "BAN", "policy": "csam", "item": "p1", "evidence": ["L1"]})):
        last = node.call("moderation." + tool, entity=case, action=action)["structuredContent"]
    assert last["outcome"] == "escalated", last
    assert "propose" not in person.tools()
    [row] = person.call("inbox")["structuredContent"]["queue"]
    decision = person.call("answer", domain=row["domain"], entity=row["entity"], digest=row["digest"],
                           counselor=row["counselors"][0], decision="commit", reason="seen")["structuredContent"]
    assert decision["outcome"] == "cCommitted", decision
    node.end()
    person.end()


def ready(session, case):
    """A case in which a ban waits for nothing but the ban."""
    session.call("begin", domain="moderation", entity=case)
    label = {"entityType": "Post", "entity": "p1", "label": "scam_link", "reason": "rule Scam_v2"}
    notice = {"n": "N1", "action": "A1", "facts": "link", "clause": "Scams 4.2", "redress": "appeal"}
    assert session.call("moderation.ApplyLabel", entity=case, action=label)["structuredContent"]["outcome"] == "approved"
    assert session.call("moderation.DraftNotice", entity=case, action=notice)["structuredContent"]["outcome"] == "approved"


def decides(directory, modern):
    """An escalation asks the counselor at the client; the answer decides it, once."""
    everyone, case = Session(directory, "operator", True), "decides-" + str(modern)
    ready(everyone, case)
    [counselor, *_] = everyone.call("domain.show", domain="moderation")["structuredContent"]["counselors"]
    one = Session(directory, "operator", modern, "--as", "moderation.Enforcement", "--counselor", counselor)
    one.decide = {"action": "accept", "content": {"decision": "commit although unsafe", "reason": "seen by a person"}}
    ban = {"a": "A1", "kind": "BAN", "policy": "csam", "item": "p1", "evidence": ["L1"]}
    asked = {"name": "moderation.TakeAction", "arguments": {"entity": case, "action": ban}}
    result = one.ask("tools/call", **asked)["result"]
    if modern:
        assert result["resultType"] == "input_required", result
        form, state = result["inputRequests"]["decision"], result["requestState"]
        assert form["method"] == "elicitation/create" and "csam" in form["params"]["message"], form
        answers = {"decision": one.decide}
        for forged in (state[:-1] + ("0" if state[-1] != "0" else "1"), "x", "." + state):
            assert one.ask("tools/call", **asked, inputResponses=answers, requestState=forged)["error"]["code"] == -32602
        other = {**asked, "arguments": {"entity": "another", "action": ban}}
        assert one.ask("tools/call", **other, inputResponses=answers, requestState=state)["error"]["code"] == -32602
        result = one.ask("tools/call", **asked, inputResponses=answers, requestState=state)["result"]
        again = one.ask("tools/call", **asked, inputResponses=answers, requestState=state)
        assert again["error"]["code"] == -32602, again  # used
    else:
        assert "csam" in one.asked["message"], one.asked
    assert result["structuredContent"]["outcome"] == "cCommitted", result
    fate = one.call("why", entity=case)["structuredContent"]["entries"]
    assert [row["tag"] for row in fate] == ["escalated", "cCommitted"] and fate[1]["reason"] == "seen by a person", fate
    one.end()
    everyone.end()


def subscribes(directory, modern):
    everyone, one = Session(directory, "operator", True), Session(directory, "operator", modern, "--as", "budget.A")
    entity = "watched-" + str(modern)
    everyone.call("begin", domain="budget", entity=entity)
    uri = f"witan://budget/{entity}/slice/A"
    templates = [row["uriTemplate"] for row in one.ask("resources/templates/list")["result"]["resourceTemplates"]]
    assert templates == ["witan://budget/{entity}/ledger", "witan://budget/{entity}/slice/A"], templates
    read = lambda: json.loads(one.ask("resources/read", uri=uri)["result"]["contents"][0]["text"])["state"]["spentA"]
    assert one.ask("resources/read", uri=f"witan://budget/{entity}/slice/B")["error"]["code"] in (-32602, -32002)
    if modern:
        one.send({"id": "listening", "method": "subscriptions/listen",
                  "params": {"_meta": META, "notifications": {"resourceSubscriptions": [uri, uri.replace("/A", "/B")]}}})
        accepted = one.read()
        assert accepted["params"]["notifications"] == {"resourceSubscriptions": [uri]}, accepted
    else:
        assert one.ask("resources/subscribe", uri=uri)["result"] == {}
    assert read() == 0
    everyone.call("propose", domain="budget", entity=entity, role="A", action={"type": "SpendA", "n": 5})
    told = one.updated(uri)
    assert not modern or told["_meta"]["io.modelcontextprotocol/subscriptionId"] == "listening", told
    assert read() == 5
    one.end()
    everyone.end()


SECRET = "of-another-role"


def narrows(directory, modern):
    """One role of one domain: its acts go through, and nothing that another role wrote reaches the client."""
    everyone = Session(directory, "operator", True)
    case = "narrow-modern" if modern else "narrow-legacy"
    everyone.call("begin", domain="moderation", entity=case)
    label = {"entityType": "Post", "entity": SECRET, "label": "scam_link", "reason": SECRET}
    labelled = everyone.call("moderation.ApplyLabel", entity=case, action=label)["structuredContent"]
    assert labelled["outcome"] == "approved", labelled

    one = Session(directory, "admin", modern, "--as", "moderation.UserNotice")
    assert list(one.tools()) == ["moderation.DraftNotice", "slice", "why"], one.tools()
    notice = {"n": "N1", "action": "A1", "facts": "link", "clause": "Scams 4.2", "redress": "appeal"}
    assert one.call("moderation.DraftNotice", entity=case, action=notice)["structuredContent"]["outcome"] == "approved"
    state = one.call("slice", entity=case)["structuredContent"]["state"]
    assert "N1" in json.dumps(state) and "label.log" not in json.dumps(state), state
    [own] = one.call("why", entity=case)["structuredContent"]["entries"]
    assert own["action"]["type"] == "DraftNotice" and "writes" not in own and "story" not in own, own
    for tool in everyone.tools():  # all that the token could do, and the participant could try
        for arguments in ({"entity": case}, {"entity": case, "role": "SignalTriage"}, {"entity": case, "role": ""},
                          {"entity": case, "domain": "moderation"}, {"domain": "moderation", "entity": case},
                          {"entity": case, "after": 0, "partition": "moderation/0"}, {"id": case},
                          {"entity": case, "action": {"type": "ApplyLabel", **label}},
                          {"entity": case, "action": label, "role": "SignalTriage"}):
            one.ask("tools/call", name=tool, arguments=arguments)
    one.call("why", limit=10000)
    with_labels = everyone.call("why", domain="moderation", entity=case)
    assert SECRET in json.dumps(with_labels)  # the search would find it
    assert [row["entry"]["role"] for row in with_labels["structuredContent"]["entries"]] == ["SignalTriage", "UserNotice"]
    assert SECRET not in one.seen, one.seen
    one.end()
    everyone.end()


def main():
    with running(PROGRAM) as directory:
        works(directory, modern=True)
        works(directory, modern=False)
        escalates(directory)
        for modern in (True, False):
            narrows(directory, modern)
            decides(directory, modern)
            subscribes(directory, modern)
        for words in ("moderation", "moderation.Nobody", "nowhere.UserNotice"):
            refused = subprocess.run([PROGRAM, "mcp", "--dir", directory, "--as", words], input="", text=True,
                                     capture_output=True)
            assert refused.returncode in (1, 2) and refused.stdout == "", refused


if __name__ == "__main__":
    main()
