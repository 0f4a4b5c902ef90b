#!/usr/bin/python3
"""client_conformance_test.py WITAN FOLDER: the official conformance suite of the Model Context Protocol against the client.

`witan tool test`, `record` and `login` are the client: each tool that can be called is called, with the arguments of the
scenario. Called by the suite with the address of its server, this file is the driver, and the browser of who logs in. Exit code 77 if npm cannot install the
suite. A driver that does nothing must fail each scenario.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
from npm_packages import install

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# All of the suite's required scenarios, and one of its extensions.
LOGINS = [*(f"metadata-{one}" for one in ("default", "var1", "var2", "var3")), "basic-cimd", "scope-from-www-authenticate",
          "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit",
          *(f"token-endpoint-auth-{one}" for one in ("basic", "post", "none")), "pre-registration"]
ISSUERS = ["resource-mismatch", "offline-access-scope", "offline-access-not-supported", "authorization-server-migration",
           *(f"iss-{one}" for one in ("supported", "not-advertised", "supported-missing", "wrong-issuer", "unexpected", "normalized")),
           "metadata-issuer-mismatch"]
SCENARIOS = {"2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", *(f"auth/{one}" for one in LOGINS)],
             "2026-07-28": ["tools_call", "request-metadata", "http-standard-headers", "http-custom-headers",
                            "http-invalid-tool-headers", "json-schema-ref-no-deref", "sep-2322-client-request-state",
                            *(f"auth/{one}" for one in LOGINS + ISSUERS)],
             "extension": ["auth/client-credentials-basic"]}
HEADER = "[tool.it]\nkind = \"mcp\"\nurl = {}\n"


# Without WITAN_LONG: one of each kind.
FEW = {f"auth/{one}" for one in ("metadata-var3", "basic-cimd", "scope-step-up", "scope-retry-limit", "token-endpoint-auth-post",
                                 "pre-registration", "resource-mismatch", "authorization-server-migration", "iss-normalized",
                                 "metadata-issuer-mismatch", "client-credentials-basic")}


def drive(url):
    asks = 'asks = "defaults"\n' if any(word in os.environ["MCP_CONFORMANCE_SCENARIO"] for word in ("elicit", "2322")) else ""
    witan, context = os.environ["WITAN"], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory(prefix="witan-") as folder:
        declared = pathlib.Path(folder) / "witan.toml"

        def tool(*words):
            done = subprocess.run([witan, "tool", *words, "--dir", folder, "--json"], capture_output=True, text=True, timeout=60)
            print(words, done, file=sys.stderr)
            return json.loads(done.stdout) if done.stdout else {}

        declared.write_text(HEADER.format(json.dumps(url)) + asks + 'looks = ["none"]\n')
        names = [row["name"] for row in tool("test", "it").get("tools", []) if not row.get("problem")]
        declared.write_text(HEADER.format(json.dumps(url)) + asks + f"looks = {json.dumps(names or ['none'])}\n")
        calls = context.get("toolCalls") or [{"name": name, "arguments": given(name)} for name in names]
        for call in calls:  # the schemas allow no null: such an argument is left out
            arguments = {name: value for name, value in call["arguments"].items() if value is not None}
            tool("record", "it", call["name"], json.dumps(arguments))


def drive_logins(url):
    """A person's browser opens each page that a login prints. Exit code 1: a login fails, or does not help."""
    witan, context = os.environ["WITAN"], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    with tempfile.TemporaryDirectory(prefix="witan-") as folder:
        keys = 'looks = ["test-tool"]\nsecret_as = "oauth"\n'
        how = ["--client-metadata", "https://conformance-test.local/client-metadata.json"] if scenario.endswith("cimd") else []
        head = ""
        if "client_secret" in context:
            how = ["--client-id", context["client_id"], *(["--machine"] if "credentials" in scenario else [])]
            pathlib.Path(folder, "key").write_bytes(os.urandom(32))
            subprocess.run([witan, "secret", "set", "it", "--key-file", folder + "/key", "--dir", folder], check=True,
                           input=context["client_secret"], text=True, stdout=subprocess.DEVNULL)
            keys += 'secret = "it"\n'
            head = f'[agents]\nsecret_key = "{folder}/key"\n'
        pathlib.Path(folder, "witan.toml").write_text(head + HEADER.format(json.dumps(url)) + keys)

        def logged_in():
            login = subprocess.Popen([witan, "tool", "login", "it", *how, "--dir", folder], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            for line in login.stdout:
                if line.startswith("http"):
                    urllib.request.urlopen(line.strip(), timeout=10).read()
            complaint = login.stderr.read()
            asked = re.search("--issuer (http[^ ,]*)", complaint)  # a person would look whether it is the right one
            if asked and "--issuer" not in how:
                how.extend(["--issuer", asked[1]])
                return logged_in()
            print(complaint, file=sys.stderr)
            return login.wait(60) == 0

        for words in (["test", "it"], ["record", "it", "test-tool", "{}"]):
            for attempt in range(3):
                done = subprocess.run([witan, "tool", *words, "--dir", folder], capture_output=True, text=True, timeout=60)
                print(words, done, file=sys.stderr)
                if "wants a login" not in done.stderr:
                    break
                if attempt == 2 or not logged_in():
                    sys.exit(1)


def given(name):
    return {"add_numbers": {"a": 5, "b": 3}, "valid_tool": {"region": "eu"}}.get(name, {})


def passes(suite, witan, folder, scenario, revision, driver):
    results = folder / "results" / f"{revision}-{scenario.replace('/', '-')}-{pathlib.Path(driver).name}"
    shutil.rmtree(results, ignore_errors=True)
    version = [] if revision == "extension" else ["--spec-version", revision]
    subprocess.run([*suite, "client", "--command", driver, "--scenario", scenario, *version, "-o", results],
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
        if not os.environ.get("WITAN_LONG"):
            scenarios = [one for one in scenarios if not one.startswith("auth/") or (one in FEW and (revision != "2025-11-25" or "scope" in one))]
        good = [one for one in scenarios if passes(suite, witan, folder, one, revision, os.path.abspath(__file__))]
        idle = [one for one in scenarios[:3] + scenarios[-3:] if passes(suite, witan, folder, one, revision, "/bin/true")]
        print(f"{revision}: {len(good)} of {len(scenarios)} scenarios pass, {len(idle)} without a client")
        failed += len(scenarios) - len(good) + len(idle)
    return 1 if failed else 0


if len(sys.argv) == 2:
    drive_logins(sys.argv[1]) if os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("auth/") else drive(sys.argv[1])
else:
    sys.exit(main(os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()))
