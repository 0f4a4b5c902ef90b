#!/usr/bin/python3
"""client_conformance_test.py WITAN FOLDER: the official conformance suite of the Model Context Protocol against the client.

`witan tool test` and `witan tool record` are the client: each tool that can be called is called, with the arguments of the
scenario. Called by the suite with the address of its server, this file is the driver. Exit code 77 if npm cannot install the
suite. A driver that does nothing must fail each scenario.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from npm_packages import install

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# Those of the suite's required scenarios that need neither OAuth nor a person who answers the server.
SCENARIOS = {"2025-11-25": ["initialize", "tools_call", "sse-retry"],
             "2026-07-28": ["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers",
                            "http-invalid-tool-headers", "json-schema-ref-no-deref"]}
HEADER = "[tool.it]\nkind = \"mcp\"\nurl = {}\n"


def drive(url):
    witan, context = os.environ["WITAN"], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory(prefix="witan-") as folder:
        declared = pathlib.Path(folder) / "witan.toml"

        def tool(*words):
            done = subprocess.run([witan, "tool", *words, "--dir", folder, "--json"], capture_output=True, text=True, timeout=60)
            print(words, done, file=sys.stderr)
            return json.loads(done.stdout) if done.stdout else {}

        declared.write_text(HEADER.format(json.dumps(url)) + 'looks = ["none"]\n')
        names = [row["name"] for row in tool("test", "it").get("tools", []) if not row.get("problem")]
        declared.write_text(HEADER.format(json.dumps(url)) + f"looks = {json.dumps(names or ['none'])}\n")
        calls = context.get("toolCalls") or [{"name": name, "arguments": given(name)} for name in names]
        for call in calls:  # the schemas allow no null: such an argument is left out
            arguments = {name: value for name, value in call["arguments"].items() if value is not None}
            tool("record", "it", call["name"], json.dumps(arguments))


def given(name):
    return {"add_numbers": {"a": 5, "b": 3}, "valid_tool": {"region": "eu"}}.get(name, {})


def passes(suite, witan, folder, scenario, revision, driver):
    results = folder / "results" / f"{revision}-{scenario}-{pathlib.Path(driver).name}"
    shutil.rmtree(results, ignore_errors=True)
    subprocess.run([*suite, "client", "--command", driver, "--scenario", scenario, "--spec-version", revision, "-o", results],
                   capture_output=True, timeout=120, env={**os.environ, "NO_COLOR": "1", "WITAN": witan})
    found = [one for one in results.glob("**/checks.json")]
    if len(found) != 1:
        return False
    checks = [check for check in json.loads(found[0].read_text()) if check["status"] not in ("INFO", "SKIPPED")]
    wrong = [check for check in checks if check["status"] != "SUCCESS"]
    for check in wrong if driver != "/bin/true" else []:
        print(f"  {scenario}: {check['id']} {check['status']}: {check.get('errorMessage', '')}")
    return bool(checks) and not wrong


def main(witan, folder):
    node = install(folder, SUITE)
    suite = [node, str(folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js")]
    failed = 0
    for revision, scenarios in SCENARIOS.items():
        good = [one for one in scenarios if passes(suite, witan, folder, one, revision, os.path.abspath(__file__))]
        idle = [one for one in scenarios if passes(suite, witan, folder, one, revision, "/bin/true")]
        print(f"{revision}: {len(good)} of {len(scenarios)} scenarios pass, {len(idle)} without a client")
        failed += len(scenarios) - len(good) + len(idle)
    return 1 if failed else 0


if len(sys.argv) == 2:
    drive(sys.argv[1])
else:
    sys.exit(main(os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()))
