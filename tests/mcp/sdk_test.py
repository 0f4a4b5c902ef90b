#!/usr/bin/env python3
"""sdk_test.py PROGRAM FOLDER: the official TypeScript SDKs of both lines against a real node (sdk.mjs), over stdio and HTTP.

The SDKs are installed into FOLDER from the npm registry; exit code 77, with the reason, if they cannot be.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from npm_packages import install
from running_node import running

PROGRAM, FOLDER = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def main():
    node = install(FOLDER, "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")
    shutil.copy(pathlib.Path(__file__).with_name("sdk.mjs"), FOLDER)
    with running(PROGRAM) as directory:
        url = "http://" + json.load(open(directory + "/control.json"))["address"] + "/mcp"
        operator = json.load(open(directory + "/control.tokens"))["operator"]
        person = subprocess.run([PROGRAM, "mcp", "--as", "moderation.Enforcement", "--counselor", "human.lead",
                                 "--print-token", "--dir", directory], check=True, capture_output=True, text=True)
        subprocess.run([node, "sdk.mjs", str(PROGRAM), directory, url, operator,
                        person.stdout.strip()], cwd=FOLDER, check=True,
                       timeout=120)


if __name__ == "__main__":
    main()
