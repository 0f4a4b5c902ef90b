#!/usr/bin/python3
"""sdk_test.py WITAN FOLDER: the official SDKs of models against `witan model-stub`, and the reference servers of the Model
Context Protocol through `witan tool`. Skipped (77) where npm cannot install them."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mcp"))
import npm_packages  # noqa: E402

WITAN, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SERVERS = "2026.8.31"
NODE = npm_packages.install(FOLDER, "openai@6", "@anthropic-ai/sdk@1", "ollama@0",
                            *(f"@modelcontextprotocol/server-{name}@{SERVERS}" for name in ("everything", "memory", "filesystem")))
SCRIPT = ['{"text":"so be it: é🐉"}', '{"calls":[{"name":"box.put","arguments":{"text":"from a model"}}]}'] * 6


def models():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        script.write("\n".join(SCRIPT))
        script.flush()
        stub = subprocess.Popen([WITAN, "model-stub", "--listen", "127.0.0.1:0", "--script", script.name], stdout=subprocess.PIPE, text=True)
        try:
            url = stub.stdout.readline().strip()
            done = subprocess.run([NODE, HERE / "sdk.mjs", url, FOLDER], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done
        finally:
            stub.terminate()
            stub.wait()


def servers():
    with tempfile.TemporaryDirectory(prefix="witan-") as place:
        data, files = pathlib.Path(place) / "data", pathlib.Path(place) / "files"
        data.mkdir(), files.mkdir()
        (files / "a.txt").write_text("what is in it")

        def declare(name, argument, looks, actions=()):
            program = FOLDER / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
            return (f'[tool.{name}]\nkind = "mcp"\ncommand = {json.dumps([NODE, str(program), argument])}\n'
                    f"looks = {json.dumps(looks)}\nactions = {json.dumps(actions)}\nnetwork = true\nenvironment = [\"MEMORY_FILE_PATH\"]\n")

        (data / "witan.toml").write_text(
            declare("everything", "stdio", ["echo", "get-sum"]) + declare("memory", "x", ["read_graph"], ["create_entities"])
            + declare("filesystem", str(files), ["read_text_file"], ["write_file"]))

        def tool(*words):
            done = subprocess.run([WITAN, "tool", *words, "--dir", data], capture_output=True, text=True, timeout=60,
                                  env={"PATH": "/usr/bin:/bin", "MEMORY_FILE_PATH": str(data / "memory.json")})
            assert done.returncode == 0, done
            return done.stdout

        for name in ("everything", "memory", "filesystem"):
            assert "MCP 2025-11-25" in tool("test", name)
        assert "Echo: hello" in tool("record", "everything", "echo", '{"message":"hello"}')
        tool("record", "memory", "create_entities", '{"entities":[{"name":"ann","entityType":"person","observations":["pays"]}]}')
        assert "ann" in tool("record", "memory", "read_graph", "{}")
        assert "what is in it" in tool("record", "filesystem", "read_text_file", json.dumps({"path": str(files / "a.txt")}))
        tool("record", "filesystem", "write_file", json.dumps({"path": str(files / "b.txt"), "content": "new"}))
        assert (files / "b.txt").read_text() == "new"


models()
servers()
print("ok")
