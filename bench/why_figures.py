#!/usr/bin/python3
"""why_figures.py WITAN [ENTRIES]: how long `witan why` takes on ledgers of so many entries (1,000,000), by the HTTP API: of
entries, operations and entities that are drawn. A line of JSON, in milliseconds."""
import json
import os
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "clients/python"), str(ROOT / "tests/mcp")]
import witan
from running_node import running

WITAN, ENTRIES = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
ENTITIES, TOGETHER, ASKED = 1_000, 256, 200


def spent(ask):
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1e3


with running(WITAN) as directory, witan.connect(directory) as client:
    for i in range(ENTITIES):
        client.begin("budget", f"e{i}")
    began, last, draw = time.perf_counter(), [], random.Random(1)
    for made in range(0, ENTRIES, TOGETHER):
        last = client.propose_all([{"domain": "budget", "entity": f"e{(made + i) % ENTITIES}", "role": "A", "action": {"type": "SpendA", "n": 0},
                                    "operationId": f"op-{made + i}"} for i in range(TOGETHER)], timeout=120)
        assert all(one["outcome"] == "approved" for one in last)
    figures = {"entries": ENTRIES, "filledSeconds": round(time.perf_counter() - began, 1)}
    for name, subject in (("entry", lambda: f"budget/0:{draw.randrange(1, ENTRIES)}"), ("operation", lambda: f"op-{draw.randrange(ENTRIES)}"),
                          ("entity", lambda: f"budget/e{draw.randrange(ENTITIES)}")):
        times = sorted(spent(lambda: client.get("/v1/why", subject=subject())) for _ in range(ASKED))
        figures[name] = {"p50": round(statistics.median(times), 2), "p99": round(times[int(ASKED * 0.99)], 2)}
print(json.dumps(figures))
