#!/usr/bin/python3
"""frameworks_test.py WITAN FOLDER: what docs/examples shows for programs of others, against a real node: a graph of LangGraph, a
tool of the Vercel AI SDK, an agent's program in JavaScript, SPARQL by Oxigraph. Skipped (77) where npm cannot install them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/mcp"), str(ROOT / "clients/python")]
import npm_packages
import witan

WITAN, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
NODE = npm_packages.install(FOLDER, "@langchain/langgraph@1", "@langchain/core@1", "ai@6", "@ai-sdk/openai-compatible@2", "zod@4",
                            "oxigraph@0", "@modelcontextprotocol/server@2", str(ROOT / "clients/typescript"))
EXAMPLES = ROOT / "docs/examples"


def example(path):
    """Beside the packages."""
    copy = FOLDER / path.replace("/", "-")
    shutil.copy(EXAMPLES / path, copy)
    return str(copy)


class Node:
    def __init__(self, place, files=(), agents=()):
        self.dir = pathlib.Path(place) / "node"
        self.witan("init", "--name", "others", "--partitions", "1", "--listen", "127.0.0.1:0")
        for name, text in files:
            (self.dir / name).parent.mkdir(exist_ok=True)
            with open(self.dir / name, "a") as out:
                out.write(text)
        self.up = subprocess.Popen([WITAN, "up", "--dir", self.dir, *(word for agent in agents for word in ("--agent", agent))],
                                   stderr=subprocess.DEVNULL, env={**os.environ, "WITAN_CONTROL_LISTEN": "127.0.0.1:0"})
        self.witan("status", "--wait", "ready")
        self.environment = {**os.environ, "WITAN_URL": "http://" + json.loads((self.dir / "control.json").read_text())["address"],
                            "WITAN_TOKEN": json.loads((self.dir / "control.tokens").read_text())["operator"]}

    def witan(self, *words, text=None):
        done = subprocess.run([WITAN, *words, "--dir", self.dir], capture_output=True, text=True, timeout=60, input=text)
        assert done.returncode == 0, done
        return done.stdout

    def program(self, path, *words, **environment):
        done = subprocess.run([NODE, example(path), *words], capture_output=True, text=True, timeout=60,
                              env={**self.environment, **environment})
        assert done.returncode == 0, done
        return done.stdout.splitlines()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.up.terminate()
        assert self.up.wait(30) == 0


def frameworks():
    with tempfile.TemporaryDirectory(prefix="witan-") as place, Node(place) as node, witan.connect(node.dir) as client:
        client.begin("budget", "team")
        trips = [{"trip": "Rome", "amount": 60_000}, {"trip": "Rome", "amount": 60_000}, {"trip": "Oslo", "amount": 60_000}]
        said = node.program("frameworks/langgraph.mjs", json.dumps(trips))
        assert said[:2] == ["Rome is booked"] * 2 and said[2].startswith("rejected: "), said
        assert client.slice("budget", "team", "A")["state"]["spentA"] == 60_000  # once
        script = pathlib.Path(place) / "script"
        script.write_text('{"calls":[{"name":"spend","arguments":{"amount":60000}}]}\n'
                          '{"calls":[{"name":"spend","arguments":{"amount":1000}}]}\n{"text":"all is spent"}\n')
        stub = subprocess.Popen([WITAN, "model-stub", "--listen", "127.0.0.1:0", "--script", script], stdout=subprocess.PIPE, text=True)
        try:
            said = node.program("frameworks/ai-sdk.mjs", "Spend it.", MODEL_URL=stub.stdout.readline().strip())
        finally:
            stub.terminate()
            stub.communicate()
        assert said[0].startswith("rejected: ") and said[1:] == ["approved: ", "all is spent"], said
        assert client.slice("budget", "team", "B")["state"]["spentB"] == 1_000


def blocks(markdown):
    """The files of docs/tools.md, by name."""
    text = (ROOT / "docs/tools.md").read_text()
    return {part.split(" -->", 1)[0]: part.split("```", 2)[1].split("\n", 1)[1] for part in text.split("<!-- file: ")[1:]}


def a_program_in_javascript():
    files = blocks("docs/tools.md")
    agent = "\n".join("served = true" if line.startswith("program = ") else line for line in files["clerk.agent.toml"].splitlines())
    with tempfile.TemporaryDirectory(prefix="witan-") as place:
        ship = pathlib.Path(place) / "ship.py"
        ship.write_text(files["ship.py"])
        os.chdir(place)
        with Node(place, (("policy.toml", files["shop-policy.toml"]), ("witan.toml", files["tools.toml"]),
                          ("agents/clerk.agent.toml", agent)), ("clerk",)) as node:
            served = subprocess.Popen([NODE, example("clerk/served.mjs")], env=node.environment, stderr=subprocess.PIPE, text=True)
            try:
                node.witan("feed", "-", text=files["orders.jsonl"])
                end = time.monotonic() + 60
                while not os.path.exists("shipped.txt"):
                    assert time.monotonic() < end and served.poll() is None, served.stderr.read()
                    time.sleep(0.05)
                while "completed" not in node.witan("saga", "list", "--all"):
                    assert time.monotonic() < end
                    time.sleep(0.05)
            finally:
                served.kill()
                served.communicate()
        assert [line.split(" ")[1] for line in pathlib.Path("shipped.txt").read_text().splitlines()] == ["o-1"]
        os.chdir("/")


def sparql():
    with tempfile.TemporaryDirectory(prefix="witan-") as place:
        facts = pathlib.Path(place) / "facts.ttl"
        facts.write_text("@prefix h: <http://h/> . h:ann h:knows h:bob . h:bob h:age 7 ; h:knows h:cyd .\n")
        (pathlib.Path(place) / "witan.toml").write_text(
            f'[tool.sparql]\nkind = "mcp"\ncommand = {json.dumps([NODE, example("sparql/server.mjs"), str(facts)])}\nlooks = ["query"]\n')

        def query(text, code=0):
            done = subprocess.run([WITAN, "tool", "record", "sparql", "query", json.dumps({"sparql": text}), "--dir", place],
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == code, done
            return json.loads(json.loads(done.stdout)) if code == 0 else done.stderr
        assert query("SELECT ?x WHERE { <http://h/ann> <http://h/knows>+ ?x } ORDER BY ?x") == [{"x": "http://h/bob"}, {"x": "http://h/cyd"}]
        assert query("ASK { ?who <http://h/age> 7 }") == [{"holds": True}]
        assert "error" in query("SELECT nothing", 1)


frameworks()
a_program_in_javascript()
sparql()
print("ok")
