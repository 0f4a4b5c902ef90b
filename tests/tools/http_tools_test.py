#!/usr/bin/python3
"""http_tools_test.py WITAN: tools at an address (MCP over HTTP, plain HTTP), programs without a network, and a tool that an
agent of a running node calls."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import desk_files
import http_stub

HERE = pathlib.Path(__file__).resolve().parent
WITAN = os.path.abspath(sys.argv[1])
ROOT = tempfile.TemporaryDirectory(prefix="witan-")


def folder(config):
    place = pathlib.Path(tempfile.mkdtemp(dir=ROOT.name))
    (place / "witan.toml").write_text(config)
    return place


def witan(place, *words):
    return subprocess.run([WITAN, *words, "--dir", place], capture_output=True, text=True, timeout=90)


def records(place, operation, words, code=0, arguments="{}"):  # 4: no answer came
    done = witan(place, "tool", "record", "it", operation, arguments)
    assert done.returncode == code and words in done.stdout + done.stderr, (operation, words, done)


def mcp_tool(url):
    return folder(f'[tool.it]\nkind = "mcp"\nurl = "{url}/mcp"\nlooks = ["get"]\ntimeout_ms = 3000\n')


def a_broken_stream_is_taken_up():
    with http_stub.mcp("breaks") as (url, server):
        records(mcp_tool(url), "get", "taken up")
        assert server.resumed == ["e1", "e2"], server.resumed


def an_answer_counts_when_it_comes():
    with http_stub.mcp("early") as (url, _):
        records(mcp_tool(url), "get", "got it")


def a_flood_ends():
    with http_stub.mcp("endless") as (url, _):
        records(mcp_tool(url), "get", "no answer within 3000 ms", code=4)


def a_forgotten_session_has_done_nothing():
    with http_stub.mcp("forgets") as (url, _):
        records(mcp_tool(url), "get", "has ended the session", code=4)


def statuses_say_what_was_done():
    with http_stub.api(busy=429, wrong=400, broken=500) as (url, server):
        place = folder(f'[tool.it]\nkind = "http"\nurl = "{url}"\nlooks = ["get", "busy", "wrong", "broken"]\nactions = ["put"]\n')
        records(place, "get", "/get", arguments='{"a":1}')
        records(place, "put", "/put")
        for operation, code in (("busy", 4), ("wrong", 1), ("broken", 4)):
            records(place, operation, "it is so", code)
        assert [(path, body) for path, _, body in server.asked][:1] == [("/get", {"a": 1})], server.asked
        keys = [{name.lower(): text for name, text in headers.items()}.get("idempotency-key") for _, headers, _ in server.asked]
        assert [bool(key) for key in keys[:2]] == [False, True], keys


def an_api_as_its_document_says():
    with http_stub.api() as (url, server):
        place = folder(f'[tool.it]\nkind = "http"\nurl = "{url}/v1"\nfile = "{HERE}/garden_api.json"\n'
                       'looks = ["readPlot"]\nactions = ["plant"]\n')
        tested = witan(place, "tool", "test", "it")
        assert tested.returncode == 0 and "Garden" in tested.stdout and "no argument may set the header" in tested.stdout, tested
        assert "a reference to" in tested.stdout, tested
        records(place, "readPlot", "/v1/plots/a%2Fb%3F", arguments='{"plot":"a/b?","tag":["x","y&z"],"X-Season":"spring"}')
        records(place, "plant", "", arguments='{"plot":"p","body":{"plant":"beans","with":{"plant":"corn"}}}')
        (path, head, _), (_, plant_head, body) = server.asked[0], server.asked[1]
        names = {name.lower(): text for name, text in head.items()}
        assert path == "/v1/plots/a%2Fb%3F?tag=x&tag=y%26z" and names["x-season"] == "spring", (path, names)
        assert body == {"plant": "beans", "with": {"plant": "corn"}}, body
        assert "idempotency-key" in {name.lower() for name in plant_head}, plant_head
        asked = len(server.asked)
        for operation, arguments in (("readPlot", '{"plot":"p"}'), ("readPlot", '{"plot":"p","X-Season":"winter"}'),
                                     ("readPlot", '{"plot":"..","X-Season":"spring"}'), ("plant", '{"plot":"p","body":{"plant":5}}'),
                                     ("plant", '{"plot":"p","body":{"plant":"a","with":{"x":1}}}'), ("plant", '{"plot":"p"}')):
            records(place, operation, "argument", 1, arguments)
        assert len(server.asked) == asked  # nothing left
        server.says = {"example": 1}
        records(place, "readPlot", "the result breaks the document", 1, '{"plot":"p","X-Season":"spring"}')


def a_program_without_a_network_reaches_nothing():
    with http_stub.api() as (url, server):
        ask = ("import json,sys,urllib.request\n"
               f"urllib.request.urlopen(urllib.request.Request('{url}/x', b'null'), timeout=5)\nprint('reached')")
        for network in ("true", "false"):
            place = folder(f'[tool.it]\nkind = "command"\ncommand = {json.dumps(["/usr/bin/python3", "-c", ask])}\nlooks = ["get"]\nnetwork = {network}\n')
            before = len(server.asked)
            done = witan(place, "tool", "record", "it", "get", "{}")
            assert (done.returncode == 0) == (network == "true"), (network, done)
            assert len(server.asked) - before == (network == "true"), network


def an_agent_of_a_node_calls_a_tool():
    """The agent, its mind and its policy of tools_test.py, on a node."""
    place = pathlib.Path(tempfile.mkdtemp(dir=ROOT.name))
    box, node = place / "box", place / "node"
    assert witan(node, "init", "--name", "desk", "--listen", "127.0.0.1:0").returncode == 0
    (node / "agents").mkdir(exist_ok=True)
    (node / "policy.toml").write_text(desk_files.POLICY)
    (node / "agents/desk.agent.toml").write_text(desk_files.AGENT + 'mind = "mind.step"\n' + desk_files.TOOLS)
    config = (node / "witan.toml").read_text()
    assert "run = []\n" in config
    (node / "witan.toml").write_text(
        config.replace("run = []\n", 'run = ["desk"]\n') +
        f'[tool.box]\nkind = "mcp"\ncommand = ["{HERE}/mcp_stub.py", "once", "{box}"]\n'
        f'looks = ["get"]\nactions = ["put"]\n[tool.mind]\nkind = "command"\ncommand = ["{HERE}/mind.py"]\nlooks = ["step"]\n')
    log = open(place / "log", "w")
    up = subprocess.Popen([WITAN, "up", "--dir", node], stdout=log, stderr=log)
    try:
        assert witan(node, "status", "--wait", "ready").returncode == 0, (place / "log").read_text()
        said = witan(node, "journal", "put", "n1", "--type", "note", "--text", "hello")
        assert said.returncode == 0, said
        until(lambda: box.exists() and [line.split(" ", 1)[1] for line in box.read_text().splitlines()] == ["got hello"],
              lambda: (place / "log").read_text())
    finally:
        up.terminate()
        assert up.wait(30) == 0
    assert len(box.read_text().splitlines()) == 1


def until(holds, otherwise):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, otherwise()
        time.sleep(0.05)


for test in (an_agent_of_a_node_calls_a_tool, a_broken_stream_is_taken_up, an_answer_counts_when_it_comes, a_flood_ends, a_forgotten_session_has_done_nothing,
             statuses_say_what_was_done, an_api_as_its_document_says, a_program_without_a_network_reaches_nothing):
    began = time.monotonic()
    test()
    print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
