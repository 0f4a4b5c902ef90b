#!/usr/bin/python3
"""inbox_figures.py WITAN [ITEMS]: how long the stream of an inbox of so many items (100,000) takes, as `witan inbox
--follow` shows it: to the first item, to the last one, and until a new item is told. Two nodes write so many entries
each while they are apart. A line of JSON, in milliseconds."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

WITAN, ITEMS = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000


def witan(*words, text=""):
    done = subprocess.run([WITAN, *map(str, words)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Node:
    def __init__(self, folder, name):
        self.dir, self.name, self.address = folder / name, name, f"127.0.0.1:{port()}"

    def up(self):
        self.process = subprocess.Popen([WITAN, "up", "--dir", self.dir], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        witan("status", "--wait", "ready", "--timeout", 120, "--dir", self.dir)

    def down(self):
        self.process.terminate()
        self.process.wait()


def until(holds, seconds=600):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "too late"
        time.sleep(0.2)


def waiting(node):
    asked = subprocess.run([WITAN, "inbox", "--json", "--limit", "1", "--dir", node.dir], capture_output=True, text=True)
    return json.loads(asked.stdout)["waiting"] if asked.returncode == 0 else -1


with tempfile.TemporaryDirectory(prefix="witan-") as root:
    a, b = (Node(pathlib.Path(root), name) for name in "ab")
    witan("init", "--name", "a", "--partitions", 1, "--listen", a.address, "--dir", a.dir)
    a.up()
    token = witan("device", "invite", "--role", "*", "--dir", a.dir).split()[0]
    witan("join", token, "--name", "b", "--listen", b.address, "--dir", b.dir)
    a.down()
    for node in (a, b):
        rows = "".join(json.dumps({"id": f"e{i}", "type": "note", "payload": node.name}) + "\n" for i in range(ITEMS))
        witan("journal", "import", "-", "--dir", node.dir, text=rows)
    a.up(), b.up()
    until(lambda: waiting(a) == ITEMS)
    b.down()
    figures = {"items": ITEMS}
    began = time.perf_counter()
    follow = subprocess.Popen([WITAN, "inbox", "--follow", "--json", "--dir", a.dir], stdout=subprocess.PIPE, text=True)
    since, told = lambda: round((time.perf_counter() - began) * 1e3, 1), 0
    for line in follow.stdout:
        told += '"item"' in line
        if told == 1 and "first" not in figures:
            figures["first"] = since()
        if told == ITEMS:
            break
    figures["last"] = since()
    choice = json.loads(witan("inbox", "conflict:e7", "--json", "--dir", a.dir))["choices"][0]["choice"]
    began = time.perf_counter()
    witan("inbox", "conflict:e7", choice, "--by", "ann", "--dir", a.dir)
    for line in follow.stdout:
        if "gone" in line:
            break
    figures["answered"] = since()
    follow.terminate()
    figures["nodeMB"] = round(int(next(row.split()[1] for row in open(f"/proc/{a.process.pid}/status") if row.startswith("VmRSS"))) / 1024)
    a.down()
print(json.dumps(figures))
