#!/usr/bin/python3
"""The mind of the agent `desk` (tests/tools/tools_test.py): looks at the box, then puts what it read into it."""
import json
import sys

asked = json.loads(sys.stdin.readline())["arguments"]
text = asked["entries"][0]["payload"]["text"]
if not asked["observations"]:
    print(json.dumps({"looks": [{"tool": "box.get", "arguments": {"text": text}}]}))
else:
    seen = asked["observations"][0].get("content", "nothing")
    print(json.dumps({"actions": [{"tool": "box.put", "arguments": {"text": seen}}]}))
