#!/usr/bin/python3
"""mesh_latency.py FOLDER EDITS: entries of journals, one after the other, each until all nodes of FOLDER have it.

FOLDER/d0, d1, ... are the data directories of running nodes. Each entry is written at another node; then the nodes that
lack it are asked in turns, so that a time is too long by up to one round of questions (printed) and never too short."""
import http.client
import json
import pathlib
import socket
import sys
import time

folder, edits = pathlib.Path(sys.argv[1]), int(sys.argv[2])


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Node:
    def __init__(self, directory):
        tokens = json.loads((directory / "control.tokens").read_text())
        self.headers = {"authorization": "Bearer " + tokens["operator"], "content-type": "application/json"}
        self.connection = Connection(str(directory / "control.sock"))

    def ask(self, method, target, body=None):
        self.connection.request(method, target, body, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, text


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


nodes = [Node(directory) for directory in sorted(folder.glob("d*[0-9]"), key=lambda path: int(path.name[1:]))]
to_one, to_all, rounds = [], [], []
for edit in range(edits):
    entry = f"mesh/{time.time_ns()}/{edit}"
    began = time.perf_counter()
    status, text = nodes[edit * 7 % len(nodes)].ask(
        "POST", "/v1/feed", json.dumps({"id": entry, "type": "note", "payload": "now"}))
    if status != 200:
        sys.exit(f"/v1/feed answers {status}: {text.decode()}")
    lacking = list(nodes)
    while lacking:
        asked = time.perf_counter()
        left = []
        for node in lacking:
            if node.ask("GET", "/v1/journal/get?id=" + entry)[0] == 200:
                to_one.append((time.perf_counter() - began) * 1e3)
            else:
                left.append(node)
        if len(lacking) == len(nodes):
            rounds.append((time.perf_counter() - asked) * 1e3)
        lacking = left
        if time.perf_counter() - began > 60:
            sys.exit(f"{len(lacking)} nodes lack the entry {entry} after 60 s")
    to_all.append(to_one[-1])
    time.sleep(0.5)
for what, values in (("to a node", to_one), ("to all nodes", to_all), ("  a round of questions", rounds)):
    print(f"{what}: p50 {quantile(values, 0.5):.0f} ms, p99 {quantile(values, 0.99):.0f} ms, slowest {max(values):.0f} ms of {len(values)}")
