#!/usr/bin/python3
"""monitoring.py PROGRAM FOLDER: what dashboard and alert rules ask for is what a node serves, and the rules do what
their tests say. Without promtool the last is not tried, and said so.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "packaging/prometheus/witan-alerts.yml"
BOARD = ROOT / "packaging/grafana/witan.json"
METRIC = re.compile(r"\bwitan_[a-z_]+\b")


def served(program, folder):
    """The names of the metrics of a node with a peer-less cluster and an agent."""
    environment = dict(os.environ, WITAN_DIR=str(folder / "node"))
    run = lambda *words: subprocess.run([program, *words], env=environment, check=True, capture_output=True, text=True)
    run("init", "--name", "metrics", "--partitions", "1", "--listen", "127.0.0.1:0", "--advertise", "127.0.0.1:1")
    with (folder / "node.log").open("w") as log:
        node = subprocess.Popen([program, "up", "--agent", "udt-lab"], env=environment, stdout=log, stderr=log)
    try:
        run("status", "--wait", "ready", "--timeout", "30")
        token = json.loads((folder / "node/control.tokens").read_text())["observer"]
        page = subprocess.run(["curl", "-sS", "--fail", "--unix-socket", folder / "node/control.sock", "-H",
                               f"Authorization: Bearer {token}", "http://localhost/metrics"], check=True,
                              capture_output=True, text=True).stdout
    finally:
        node.terminate()
        node.wait()
    types = dict(re.findall(r"^# TYPE (\S+) (\w+)", page, re.M))
    parts = {name + part for name, kind in types.items() if kind == "histogram" for part in ("_bucket", "_sum", "_count")}
    return set(types) | parts


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = served(program, folder)
    failures = []
    for path in RULES, BOARD:
        asked = set(METRIC.findall(path.read_text()))
        failures += [f"{path.name} asks for {name}, which a node does not serve" for name in sorted(asked - names)]
        if not asked:
            failures.append(f"{path.name} asks for nothing")
    panels = json.loads(BOARD.read_text())["panels"]
    if len({one["id"] for one in panels}) != len(panels):
        failures.append("two panels have one id")
    tests = (ROOT / "tests/packaging/alerts.test.yml").read_text()
    failures += [f"no test fires {name}" for name in re.findall(r"alert: (\w+)", RULES.read_text())
                 if f"alertname: {name}\n" not in tests]
    if promtool := shutil.which("promtool"):
        for words in (["check", "rules", RULES], ["test", "rules", ROOT / "tests/packaging/alerts.test.yml"]):
            done = subprocess.run([promtool, *words], capture_output=True, text=True)
            if done.returncode != 0:
                failures.append(done.stdout + done.stderr)
    else:
        print("promtool is not installed (package prometheus): the rules were not run")
    print("\n".join(failures) or f"{len(names)} metrics, {len(panels)} panels: all agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
