"""The agent `desk` of the tests of tools outside, its policy, and its data directory."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
POLICY = """
name = "desk"
version = 1
[[boundary]]
name = "mind"
locales = ["device"]
[[boundary.operation]]
name = "step"
allow = ["agent", "round", "wake.reason", "entries[].id", "entries[].payload.text", "observations[].tool", "observations[].ok", "observations[].content"]
excess = "redact"
[[boundary]]
name = "desk"
locales = ["device"]
[[boundary.operation]]
name = "step"
allow = ["agent", "round", "wake.reason", "wake.user", "wake.memory.messages[].content", "entries[].id", "entries[].payload.text", "observations[].error"]
excess = "redact"
[[boundary]]
name = "box"
locales = ["device"]
[[boundary.operation]]
name = "get"
allow = ["text"]
[[boundary.operation]]
name = "put"
allow = ["text"]
[[boundary]]
name = "llm"
locales = ["device"]
[[boundary.operation]]
name = "chat"
inference = true
allow = ["system", "maxTokens", "messages[].role", "messages[].text", "messages[].id", "tools[].name"]
excess = "redact"
[[boundary]]
name = "journal"
locales = ["device"]
[[boundary.operation]]
name = "read"
allow = ["id"]
[[grant]]
agent = "desk"
category = "agents"
locales = ["device"]
tools = ["mind.step", "desk.step", "box.get", "box.put", "journal.read", "llm.chat"]
boundaries = ["mind", "desk", "box", "journal", "llm"]
scopes = []
models = [{ provider = "stub", model = "m-1" }]
"""
AGENT = """
id = "desk"
what = "puts notes into a box"
locale = ["device"]
entries = ["note"]
"""
TOOLS = """
[[tools]]
name = "box.get"
[[tools]]
name = "box.put"
action = true
"""


def says(result, words, code=None):
    """Without a code: it fails."""
    good = result.returncode != 0 if code is None else result.returncode == code
    assert good and words in result.stdout + result.stderr, (words, result)


class Desk:
    """A data directory with a box, an agent and a policy."""

    def __init__(self, folder, mode, *, witan, more="", agent='mind = "mind.step"\n', tools=TOOLS):
        self.dir, self.box = pathlib.Path(folder) / "desk", pathlib.Path(folder) / "box"
        self.program = witan
        (self.dir / "agents").mkdir(parents=True)
        (self.dir / "policy.toml").write_text(POLICY)
        (self.dir / "agents/desk.agent.toml").write_text(AGENT + agent + tools)
        (self.dir / "witan.toml").write_text(
            f'[tool.box]\nkind = "mcp"\ncommand = ["{HERE}/mcp_stub.py", "{mode}", "{self.box}"]\nlooks = ["get", "count"]\n'
            f'actions = ["put"]\ntimeout_ms = 700\n{more}\n'
            f'[tool.mind]\nkind = "command"\ncommand = ["{HERE}/mind.py"]\nlooks = ["step"]\n')

    def witan(self, *words, program=None, text=None, **environment):
        return subprocess.run([program or self.program, *words, "--dir", self.dir], capture_output=True, text=True, timeout=60, input=text,
                              env={**os.environ, **environment})

    def run(self, program=None, **environment):
        line = json.dumps({"at": "2026-03-23T08:00:00Z", "id": "n1", "type": "note", "payload": {"text": "hello"}})
        return self.witan("agent", "run", "--feed", "-", "--agent", "desk", program=program, text=line, **environment)

    def confirm(self):
        """A person says that the agent may ask the model."""
        says(self.witan("agent", "run", "--feed", "-", "--agent", "desk", text=""), "nothing to do", 0)
        says(self.witan("receipt", "confirm", "--agent", "desk", "--boundary", "llm", "--provider", "stub", "--model", "m-1",
                        "--by", "ann"), "confirmed", 0)

    def becomes_node(self):
        """A node's directory."""
        kept = {name: (self.dir / name).read_text() for name in ("policy.toml", "witan.toml", "agents/desk.agent.toml")}
        os.rename(self.dir, self.dir.parent / "files")
        says(self.witan("init", "--name", "desk", "--listen", "127.0.0.1:0"), "", 0)
        (self.dir / "agents").mkdir(exist_ok=True)
        for name, text in kept.items():
            with open(self.dir / name, "a") as out:
                out.write(text)

    def puts(self):
        return self.box.read_text().splitlines() if self.box.exists() else []


@contextlib.contextmanager
def node(d):
    log = open(d.dir.parent / "log", "a")
    up = subprocess.Popen([d.program, "up", "--agent", "desk", "--dir", d.dir], stdout=log, stderr=log)
    try:
        says(d.witan("status", "--wait", "ready"), "", 0)
        yield up
    finally:
        if up.poll() is None:
            up.terminate()
            assert up.wait(30) == 0, (d.dir.parent / "log").read_text()


def put_note(d):
    says(d.witan("feed", "-", text='{"id":"n1","type":"note","payload":{"text":"hello"}}'), "", 0)


def until(d, holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, (d.dir.parent / "log").read_text()
        time.sleep(0.05)
