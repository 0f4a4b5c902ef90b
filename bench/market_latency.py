#!/usr/bin/python3
"""market_latency.py WITAN [CALLS]: from an order to its settled call, three organisations on loopback (scripts/market.sh).

A client of the clinic orders one call after another and waits for its end on the event stream. The work itself is what
the ledger of the laboratory has of the run, from its first entry to its last; what lies beyond is the market's. The
phases are between entries, so what makes an entry durable counts for the phase after it."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "clients/python"))
import witan
from witan.client import _Stream
from witan.locate import locate

WITAN = os.path.abspath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
PHASES = ["Reserve", "run begins", "the work", "statement", "Deliver", "Accept", "told"]


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def sync_ms(directory):
    """What one durable write costs on this disk now."""
    spent = []
    with open(pathlib.Path(directory, "sync"), "wb") as file:
        for _ in range(100):
            os.write(file.fileno(), b"x" * 1_500)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            spent.append((time.perf_counter() - began) * 1e3)
    return statistics.median(spent)


def follow(directory, told, changed):
    stream = _Stream(locate(directory), "/v1/market/stream")
    while True:
        try:
            event = stream.next(60)
        except witan.WitanError:
            return  # the clusters have ended
        call = json.loads(event.data).get("call") if event is not None else None
        if call and call["end"]:
            with changed:
                told.setdefault(call["call"], (time.time(), call["end"]))
                changed.notify_all()


def entries(directory, domain):
    with witan.connect(directory) as client:
        page = client.get("/v1/ledger", domain=domain, limit=10_000)["entries"]
        if len(page) == 10_000:
            sys.exit(f"the ledger of {domain} has more entries than one answer shows: fewer CALLS")
        return [(row["action"] or {}, seconds(row["time"])) for row in (each.get("entry", each) for each in page)]


def measure(demo):
    told, changed, asked = {}, threading.Condition(), {}
    threading.Thread(target=follow, args=(demo / "clinic", told, changed), daemon=True).start()
    time.sleep(1)
    with witan.connect(demo / "clinic") as clinic:
        for n in range(CALLS):
            call = f"L{n}"
            asked[call] = time.time()
            clinic.post("/v1/market/order", {"contract": "K1", "call": call, "input": {"sample": "S-1", "signal": "0 1 7"}})
            with changed:
                while call not in told:
                    if not changed.wait(30):
                        sys.exit(f"call {call} has no end")
            time.sleep(0.06)
    acts, runs, begun, recorded = {}, {}, {}, {}
    for action, at in entries(demo / "notary", "escrow"):
        acts[action.get("call"), action.get("type")] = at
    for action, at in entries(demo / "lab", "graph"):
        if action.get("type") == "Begin":
            begun[action["external"].rpartition("/")[2]] = action["run"]
        runs.setdefault(action.get("run"), []).append(at)
    for action, at in entries(demo / "lab", "evidence"):
        recorded[action.get("id", "").rpartition("/")[2]] = at
    rows = []
    for call, began in asked.items():
        run = runs[begun[call]]
        moments = [began, acts[call, "Reserve"], min(run), max(run), recorded[call], acts[call, "Deliver"], acts[call, "Accept"], told[call][0]]
        rows.append([(b - a) * 1e3 for a, b in zip(moments, moments[1:])])
    return rows, {end for _, end in told.values()}


def main():
    demo = pathlib.Path(tempfile.mkdtemp(prefix="witan-latency-"))
    log = pathlib.Path(f"{demo}.log")  # not a pipe: the three go on
    with open(log, "w") as told:
        began = subprocess.run([ROOT / "scripts/market.sh", "--leave", "agreed", "--kills", str(CALLS), "--dir", demo, WITAN], stdout=told, stderr=told)
    if began.returncode:
        sys.exit(log.read_text())
    try:
        before = sync_ms(demo)
        rows, ends = measure(demo)
        print(f"{CALLS} calls, {sorted(ends)}, load {os.getloadavg()[0]:.1f}, one fdatasync {before:.1f} ms before and {sync_ms(demo):.1f} ms after")
        for n, name in enumerate(PHASES):
            spent = sorted(row[n] for row in rows)
            print(f"  {name:12} p50 {statistics.median(spent):6.1f} ms  p90 {spent[int(0.9 * len(spent))]:6.1f} ms")
        beyond = sorted(sum(row) - row[2] for row in rows)
        print(f"beyond the work: p50 {statistics.median(beyond):.1f} ms, p90 {beyond[int(0.9 * len(beyond))]:.1f} ms, p99 {beyond[int(0.99 * len(beyond))]:.1f} ms")
    finally:
        for name in ("clinic", "lab", "notary", "model"):
            os.kill(int((demo / f"{name}.pid").read_text()), 15)


main()
