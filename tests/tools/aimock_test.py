#!/usr/bin/python3
"""aimock_test.py WITAN FOLDER: models of this program against aimock, a server of others that mimics three providers, and its
switches for chaos: refusals, broken JSON, connections that end, delays. Skipped (77) where npm cannot install it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mcp"))
import npm_packages

WITAN, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
NODE = npm_packages.install(FOLDER, "@copilotkit/aimock@1.43.0")
MOCK = FOLDER / "node_modules/@copilotkit/aimock/dist/cli.js"
FIXTURES = {"fixtures": [{"match": {"userMessage": "hello"}, "response": {"content": "Hello: é, in many small pieces"}},
                         {"match": {"userMessage": "split"}, "response": {"content": "🐉🐉🐉"}},
                         {"match": {"userMessage": "put it"},
                          "response": {"toolCalls": [{"name": "box.put", "arguments": {"text": "into the box"}}]}},
                         {"match": {"userMessage": "break it"},
                          "response": {"toolCalls": [{"name": "box.put", "arguments": "{\"text\": "}]}}]}
# What a switch does to every request, and what the agent is told then.
CHAOS = {"--chaos-drop": "HTTP 500", "--chaos-malformed": "no JSON", "--chaos-disconnect": "closed the connection",
         "--chaos-ratelimit": "HTTP 429"}


class Mock:
    def __init__(self, place, *switches):
        fixtures = pathlib.Path(place) / "fixtures.json"
        fixtures.write_text(json.dumps(FIXTURES))
        self.process = subprocess.Popen([NODE, MOCK, "--port", "0", "--fixtures", fixtures, "--chunk-size", "3", *switches],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if "http://" in line:
                self.url = "http://" + line.split("http://")[1].split()[0].rstrip("/")
                return
        raise AssertionError("aimock did not start")

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def asked(place, url, form, words):
    (place / "witan.toml").write_text(f'[tool.llm]\nkind = "model"\nformat = "{form}"\nprovider = "mock"\nmodel = "m-1"\n'
                                      f'url = "{url}"\nlooks = ["chat"]\n')
    question = {"system": "", "maxTokens": 100, "messages": [{"role": "user", "text": words}],
                "tools": [{"name": "box.put", "description": "", "parameters": {"type": "object"}}]}
    return subprocess.run([WITAN, "tool", "record", "llm", "chat", json.dumps(question), "--dir", place],
                          capture_output=True, text=True, timeout=100)


with tempfile.TemporaryDirectory(prefix="witan-") as root:
    place = pathlib.Path(root)
    for form in ("openai", "anthropic", "ollama"):
        with Mock(root) as url:
            said = asked(place, url, form, "hello")
            assert said.returncode == 0 and "é, in many small pieces" in said.stdout, (form, said)
            called = json.loads(asked(place, url, form, "put it").stdout)
            assert called["calls"][0]["name"] == "box.put" and called["calls"][0]["arguments"] == {"text": "into the box"}, (form, called)
            broken = json.loads(asked(place, url, form, "break it").stdout)["calls"][0]["arguments"]
            assert broken == ("{\"text\": " if form == "openai" else {}), (form, broken)  # the mock mends it for the others
        with Mock(root, "--chaos-latency", "300") as url:
            assert asked(place, url, form, "hello").returncode == 0, form
    with Mock(root) as url:  # it cuts a character in two; half of one is no text
        assert "no JSON" in asked(place, url, "openai", "split").stderr
    for switch, words in CHAOS.items():
        with Mock(root, switch, "1") as url:
            said = asked(place, url, "openai", "hello")
            assert said.returncode != 0 and words in said.stderr, (switch, said)
print("ok")
