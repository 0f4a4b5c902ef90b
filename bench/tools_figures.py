#!/usr/bin/python3
"""tools_figures.py WITAN: what programs of others cost at a node: slices that are watched, proposals over MCP beside the HTTP
API, decisions of the Python client on one connection. A line of JSON; medians, but for the decisions a second."""
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/mcp")]
import witan
from running_node import running

WITAN = os.path.abspath(sys.argv[1])
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "content-type": "application/json", "accept": "application/json, text/event-stream"}
SLICES, PROPOSALS = 1_000, 1_000


class Node:
    def __init__(self, directory):
        self.address = json.loads(pathlib.Path(directory, "control.json").read_text())
        self.token = json.loads(pathlib.Path(directory, "control.tokens").read_text())["operator"]
        self.http = http.client.HTTPConnection(self.address["address"], timeout=30)

    def rss(self):
        text = pathlib.Path(f"/proc/{self.address['pid']}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024

    def post(self, path, body, headers=()):
        self.http.request("POST", path, json.dumps(body), {"authorization": "Bearer " + self.token, "content-type": "application/json", **dict(headers)})
        answer = self.http.getresponse()
        return json.loads(answer.read())

    def call(self, tool, arguments):
        head = {**MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": META, "name": tool, "arguments": arguments}}
        return self.post("/mcp", asked, head)


def median_ms(work, times):
    spent = []
    for i in range(times):
        began = time.perf_counter()
        work(i)
        spent.append((time.perf_counter() - began) * 1e3)
    return round(statistics.median(spent), 3)


def measure(directory):
    node, figures = Node(directory), {}
    with witan.connect(directory) as client:
        for i in range(SLICES):
            client.begin("budget", f"e{i}")
        client.begin("budget", "team")
        # One after the other, on one connection each, in turns.
        http_body = {"domain": "budget", "entity": "team", "role": "A", "action": {"type": "SpendA", "n": 1}, "waitMs": 30_000}
        def over_http(_):
            assert node.post("/v1/propose", http_body)["outcome"] == "approved"
        def over_mcp(_):
            said = node.call("propose", {k: v for k, v in http_body.items() if k != "waitMs"})
            assert said["result"]["structuredContent"]["outcome"] == "approved", said
        ways = {"httpMs": [], "mcpMs": []}
        for _ in range(5):
            ways["httpMs"].append(median_ms(over_http, PROPOSALS // 5))
            ways["mcpMs"].append(median_ms(over_mcp, PROPOSALS // 5))
        figures |= {name: statistics.median(all_) for name, all_ in ways.items()}
        figures["mcpByHttp"] = round(figures["mcpMs"] / figures["httpMs"], 2)
        began = time.perf_counter()
        figures["pythonMs"] = median_ms(lambda _: client.propose("budget", "team", "A", {"type": "SpendA", "n": 1}), PROPOSALS)
        figures["pythonDecisionsPerSecond"] = round(PROPOSALS / (time.perf_counter() - began))
        began = time.perf_counter()
        for _ in range(PROPOSALS // 100):
            made = client.propose_all([{"domain": "budget", "entity": "team", "role": "A", "action": {"type": "SpendA", "n": 1}}] * 100)
            assert all(one["outcome"] == "approved" for one in made)
        figures["pythonTogetherPerSecond"] = round(PROPOSALS / (time.perf_counter() - began))
        # A stream of one client that watches all slices.
        before = node.rss()
        uris = [f"witan://budget/e{i}/slice/A" for i in range(SLICES)]
        listen = {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {"_meta": META, "notifications": {"resourceSubscriptions": uris}}}
        stream = http.client.HTTPConnection(node.address["address"], timeout=30)
        stream.request("POST", "/mcp", json.dumps(listen), {"authorization": "Bearer " + node.token, **MODERN, "Mcp-Method": "subscriptions/listen"})
        told = stream.getresponse()
        assert told.status == 200, told.read()
        lines = (json.loads(line[5:]) for line in iter(told.readline, b"") if line.startswith(b"data:"))
        assert next(lines)["method"] == "notifications/subscriptions/acknowledged"
        changed = SLICES - 1
        began = time.perf_counter()
        client.propose("budget", f"e{changed}", "A", {"type": "SpendA", "n": 1})
        assert next(lines)["params"]["uri"] == uris[changed]
        figures |= {"watchedSlices": SLICES, "addedMiB": round(node.rss() - before, 1), "nodeMiB": round(node.rss(), 1),
                    "changeToldMs": round((time.perf_counter() - began) * 1e3)}
        stream.close()
    return figures


with running(WITAN) as place:
    print(json.dumps(measure(place)))
