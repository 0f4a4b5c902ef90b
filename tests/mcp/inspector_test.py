#!/usr/bin/env python3
"""inspector_test.py PROGRAM FOLDER: the official inspector against a real node, in both eras, over HTTP and as a child.

It is installed into FOLDER from the npm registry; exit code 77, with the reason, if it cannot be.
"""
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from npm_packages import install
from running_node import running

PROGRAM, FOLDER = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def main():
    node = install(FOLDER, "@modelcontextprotocol/inspector@2.12.0")
    with running(PROGRAM) as directory:
        url = "http://" + json.load(open(directory + "/control.json"))["address"] + "/mcp"
        token = json.load(open(directory + "/control.tokens"))["operator"]
        home = {**os.environ, "HOME": str(FOLDER), "PATH": f"{pathlib.Path(node).parent}:{os.environ['PATH']}"}

        def inspect(*words, code=0):
            done = subprocess.run([node, FOLDER / "node_modules/.bin/mcp-inspector", "--cli", *words], capture_output=True, text=True,
                                  timeout=60, env=home, cwd=FOLDER)
            assert (done.returncode == 0) == (code == 0), done
            return json.loads(done.stdout) if code == 0 else done.stderr
        subprocess.run([PROGRAM, "begin", "budget", "team", "--dir", directory], check=True, capture_output=True)
        here = [url, "--header", f"Authorization: Bearer {token}"]
        for place, era, outcome in ((here, "legacy", "approved"), (here, "modern", "rejected"),
                                    ([str(PROGRAM), "mcp", "--dir", directory], "auto", "rejected")):
            how = [*place, "--protocol-era", era, "--method"]
            names = {tool["name"] for tool in inspect(*how, "tools/list")["tools"]}
            assert {"slice", "propose", "budget.SpendA"} <= names, names
            said = inspect(*how, "tools/call", "--tool-name", "budget.SpendA", "--tool-arg", "entity=team", 'action={"n":60000}')
            assert said["structuredContent"]["outcome"] == outcome, said
        inspect(url, "--header", "Authorization: Bearer wrong", "--protocol-era", "modern", "--method", "tools/list", code=1)


if __name__ == "__main__":
    main()
