#!/usr/bin/env python3
"""conformance_test.py FIXTURE FOLDER: runs the official conformance suite of the Model Context Protocol against the server.

The suite and the Node.js that it needs are installed into FOLDER from the npm registry; exit code 77, with the reason, if
they cannot be. A scenario counts if each of its checks is a success and the server was alive before and after: against a
dead port some scenarios of the suite report success. Mutants of the server and a dead port must fail.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

sys.dont_write_bytecode = True
from npm_packages import install

FIXTURE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REQUIREMENTS = {"2025-11-25": 30, "2026-07-28": 37}  # with their numbers of scenarios for servers
# Scenario of the suite that a mutant of the fixture must fail.
MUTANTS = {"forgetState": "input-required-result-tampered-state", "anyOrigin": "dns-rebinding-protection"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


@contextlib.contextmanager
def fixture(mutant=""):
    process = subprocess.Popen([FIXTURE, "--mutant", mutant], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        assert process.wait(30) == 0, process.returncode


def alive(url):
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=10) as answer:
            return "2026-07-28" in json.load(answer)["result"]["supportedVersions"]
    except OSError:
        return False


def passes(scenario, results):
    """Whether its checks are successes, and one of them is more than the form of the messages."""
    found = [one for one in results.glob("server-*/checks.json") if re.fullmatch(rf"server-{scenario}-\d{{4}}-.*", one.parent.name)]
    if len(found) != 1:
        return False
    checks = [check for check in json.loads(found[0].read_text()) if check["status"] != "INFO"]
    wrong = [check for check in checks if check["status"] != "SUCCESS"]
    for check in wrong:
        print(f"  {scenario}: {check['id']} {check['status']}: {check.get('errorMessage', '')}")
    return not wrong and any(check["id"] != "wire-schema-valid" for check in checks)


def run(suite, url, name, *options):
    """The results of a run; None: the server was not alive before and after it."""
    results = FOLDER / "results" / name
    shutil.rmtree(results, ignore_errors=True)
    before = alive(url)
    subprocess.run([*suite, "server", "--url", url, "-o", str(results), *options], capture_output=True, timeout=300,
                   env={**os.environ, "NO_COLOR": "1"})
    return results if before and alive(url) else None


def required(suite, revision):
    text = subprocess.run([*suite, "list", "--requirements", revision], capture_output=True, text=True).stdout
    servers = text.split("Server scenarios")[1].split("Client scenarios")[0]
    return re.findall(r"^  - (\S+)$", servers, re.M)


def main():
    node = install(FOLDER, SUITE)
    suite = [node, str(FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js")]
    failed = 0
    for revision, number in REQUIREMENTS.items():
        scenarios = required(suite, revision)
        assert len(scenarios) == number, scenarios
        with fixture() as url:
            results = run(suite, url, revision, "--requirements", revision)
        good = [one for one in scenarios if results and passes(one, results)]
        print(f"{revision}: {len(good)} of {number} required scenarios pass")
        failed += number - len(good)
    for mutant, scenario in MUTANTS.items():
        with fixture(mutant) as url:
            results = run(suite, url, mutant, "--scenario", scenario, "--spec-version", "2026-07-28")
        assert results is not None, mutant
        if passes(scenario, results):
            print(f"the suite does not notice the mutant {mutant}")
            failed += 1
    scenario = "input-required-result-ignore-extra-params"  # which succeeds without a server
    with fixture() as url:
        pass
    if run(suite, url, "dead", "--scenario", scenario, "--spec-version", "2026-07-28") is not None:
        print("a dead port counts as alive")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
