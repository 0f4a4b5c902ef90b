#!/usr/bin/python3
"""The least MCP server over stdio: one tool that answers at once (bench/tool_bench.cpp)."""
import json
import sys

TOOLS = [{"name": "get", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]
for line in sys.stdin:
    asked = json.loads(line)
    result = {"resultType": "complete", "content": [{"type": "text", "text": "hello"}]}
    if asked["method"] == "server/discover":
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if asked["method"] == "tools/list":
        result = {"resultType": "complete", "tools": TOOLS}
    if "id" in asked:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
        sys.stdout.flush()
