#!/usr/bin/python3
"""serve_test.py WITAN WITAN_KILLED: programs as agents: one that the node keeps, one that comes to the node, and one behind
`witan agent serve`. Program and node die by SIGKILL at several points; the tool has one effect. And `witan dev`."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import witan
from desk_files import Desk, node, put_note, says, until

HERE = pathlib.Path(__file__).resolve().parent
WITAN, KILLED = (os.path.abspath(one) for one in sys.argv[1:3])


def desk(mode, agent, more="idempotent = true"):
    return Desk(tempfile.mkdtemp(dir=ROOT), mode, witan=WITAN, agent=agent, more=more)


# --- a program that the node keeps

def kept(how, once=True, mode="idempotent", **more):
    mark = tempfile.mktemp(dir=ROOT) if once else "-"
    return desk(mode, f'program = ["{HERE}/dying.py", "{how}", "{mark}"]\ntimeoutMs = 5000\n', **more)


def dies_once_and_is_asked_again(how):
    d = kept(how)
    says(d.run(), "completed 1", 0)
    assert [line.split(" ", 1)[1] for line in d.puts()] == ["hello"], (how, d.puts())


def dies_always(how, words):
    d = kept(how, once=False)
    says(d.run(), "", 3)
    says(d.witan("wake", "list", "--failed"), words, 0)
    assert not d.puts(), how


def is_listed():
    d = kept("never")
    says(d.witan("tool", "list"), "desk.step  look          program  desk", 0)
    for line, words in (('[tool.desk]\nkind = "command"\ncommand = ["true"]\nlooks = ["x"]\n', "has the name of a tool"),
                        ('[tool.other]\nkind = "program"\ncommand = ["true"]\n', "the kind of an agent's own program")):
        d = kept("never")
        with open(d.dir / "witan.toml", "a") as out:
            out.write(line)
        says(d.run(), words)
    says(desk("once", 'program = ["true"]\nmind = "mind.step"\n').run(), "no mind, or two")
    says(desk("once", "").run(), "no mind, or two")
    says(desk("once", "served = true\n").run(), "comes to a running node")


def node_dies(step, moment, mode):
    """At one of the writes of a process whose agent's program dies too. Whether the node was killed at all."""
    d = kept("answered", mode=mode, more="idempotent = " + ("true" if mode == "idempotent" else "false"))
    died = d.run(KILLED, WITAN_KILL_STEP=str(step), WITAN_KILL_MOMENT=moment).returncode == -9
    for _ in range(3):
        if d.run().returncode == 0:
            break
    puts, sagas = d.puts(), d.witan("saga", "list", "--all").stdout
    if mode == "idempotent":
        assert len(puts) == 1 and "completed" in sagas, (step, moment, puts, sagas)
    else:
        assert len(puts) <= 1 and ("completed" in sagas or "uncertain" in sagas), (step, moment, puts, sagas)
    return died


# --- a program that comes to the node

def served(mode="idempotent", agent="served = true\ntimeoutMs = 20000\n", more="idempotent = true"):
    """A node's directory; box.get and box.put are there."""
    folder = tempfile.mkdtemp(dir=ROOT)
    made = Desk(folder, mode, witan=WITAN, agent=agent, more=more)
    made.becomes_node()
    return made


PROGRAM = """
import os, signal, sys, time, witan
point, mark = sys.argv[1:]
def die(now):
    if now == point and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getppid() if point.startswith("node") else os.getpid(), signal.SIGKILL)
        time.sleep(0.3)
def think(asked):
    die("asked"), die("node-asked")
    return {"actions": [{"tool": "box.put", "arguments": {"text": asked["entries"][0]["payload"]["text"]}}]}
with witan.connect(os.environ["WITAN_DIR"]) as node:
    node.serve("desk", think, most=1)
die("answered"), die("node-answered")
"""


def begin(d, point, mark, program=PROGRAM):
    return subprocess.Popen([sys.executable, "-c", program, point, mark], stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "WITAN_DIR": str(d.dir), "PYTHONPATH": str(HERE.parents[1] / "clients/python")})


def serve(d, point, mark):
    program = begin(d, point, mark)
    program.communicate(timeout=60)
    return program


def comes_and_dies(point):
    d = served()
    mark = str(d.dir.parent / "mark")
    with node(d) as up:
        put_note(d)
        time.sleep(0.3)  # the wake waits: no program is here
        assert "running" not in d.witan("wake", "list").stdout
        if not point.startswith("node"):
            first = serve(d, point, mark)
            assert (first.returncode == -9) == (point in ("asked", "answered")), first
            if point == "asked":
                assert not d.puts()
                assert serve(d, point, mark).returncode == 0
            until(d, d.puts)
            return settle(d)
        # The program is the node's killer.
        program = begin(d, point, mark, PROGRAM.replace("os.getppid()", str(up.pid)))
        assert up.wait(30) == -9
    with node(d):
        assert program.wait(60) == 0, program.stderr.read()
        program.stderr.close()
        again = begin(d, "never", mark)  # the answer may not have been durable
        until(d, d.puts)
        settle(d)
        again.kill()
        again.communicate()


def settle(d):
    until(d, lambda: "completed" in d.witan("saga", "list", "--all").stdout)
    assert [line.split(" ", 1)[1] for line in d.puts()] == ["hello"], d.puts()
    # The run ends a moment after its effect.
    until(d, lambda: "one effect each" in d.witan("agent", "check").stdout)
    says(d.witan("agent", "check"), "one effect each", 0)


def waits_for_its_program_through_a_restart():
    """A wake without a program begins no run; after a restart it is still there. `witan agent serve` runs it."""
    d = served()
    with node(d):
        put_note(d)
        time.sleep(0.3)
    with node(d):
        assert not d.puts()
        bridge = subprocess.Popen([WITAN, "agent", "serve", "desk", "--dir", d.dir, "--", f"{HERE}/dying.py", "never", "-"],
                                  stderr=subprocess.PIPE, text=True)
        until(d, d.puts)
        settle(d)
        bridge.terminate()
        bridge.wait()
        # The same with the caller's own stdin and stdout; this program says that it cannot.
        bridge = subprocess.Popen([WITAN, "agent", "serve", "desk", "--dir", d.dir], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        says(d.witan("feed", "-", text='{"id":"n2","type":"note","payload":{"text":"again"}}'), "", 0)
        asked = json.loads(bridge.stdout.readline())
        assert asked["entries"][0]["id"] == "n2", asked
        bridge.stdin.write('{"failed": "no more boxes"}\n')
        bridge.stdin.flush()
        until(d, lambda: "no more boxes" in d.witan("wake", "list", "--failed").stdout)
        bridge.stdin.close()
        bridge.terminate()
        bridge.wait()
        says(d.witan("agent", "serve", "nobody"), "no agent \"nobody\" here", 1)
    assert len(d.puts()) == 1


def writes_without_end():
    """What a program writes beside its answers fills no disk: it is ended, and few of its lines are kept."""
    d = served(agent=f'program = ["{HERE}/dying.py", "words", "-"]\ntimeoutMs = 20000\n')
    with node(d):
        put_note(d)
        until(d, lambda: "more than 4 MiB that is no answer" in d.witan("wake", "list", "--failed").stdout)
    log = (d.dir.parent / "log").read_text()
    assert len(log) < 100_000 and "lines of it are not kept" in log, log[-2000:]


def leaves_nobody_behind():
    """A child of a program ends with it, also one that wants a session of its own."""
    mark = pathlib.Path(tempfile.mktemp(dir=ROOT))
    d = served(agent=f'program = ["{HERE}/dying.py", "leaves", "{mark}"]\ntimeoutMs = 20000\n')
    with node(d):
        put_note(d)
        until(d, d.puts)
        child = pathlib.Path("/proc") / mark.read_text()
        assert child.exists()
    until(d, lambda: not child.exists() or "State:\tZ" in (child / "status").read_text())


def answers_late():
    """An answer that names its question is none to the next one."""
    d = served(agent=f'program = ["{HERE}/dying.py", "late", "-"]\ntimeoutMs = 20000\n')
    with node(d):
        put_note(d)
        until(d, d.puts)
        says(d.witan("feed", "-", text='{"id":"n2","type":"note","payload":{"text":"again"}}'), "", 0)
        until(d, lambda: len(d.puts()) > 1)
    assert [line.split(" ", 1)[1] for line in d.puts()] == ["hello", "again"], d.puts()


def answers_too_much():
    """It is refused at the door, and the question stays."""
    d = served()
    with node(d), witan.connect(d.dir) as client:
        put_note(d)
        try:
            client.serve("desk", lambda asked: {"answer": "x" * 70_000}, most=1)
            raise AssertionError("it was taken")
        except witan.InvalidInput as refused:
            assert "61440" in str(refused), refused
        client.serve("desk", lambda asked: {"answer": "in few words"}, most=1)
        until(d, lambda: "completed" in d.witan("wake", "list", "--all").stdout)


def answers_nobody_waits_for():
    d = served()
    with node(d), witan.connect(d.dir) as client:
        assert client.post("/v1/agent/answer", {"agent": "desk", "question": "0" * 32, "answer": {}}) == {"taken": False}
        with contextlib.suppress(witan.NotFound):
            client.serve("nobody", lambda asked: {})
            raise AssertionError("it is served")
        put_note(d)
        answers = iter(({"looks": [{"tool": "journal.remove", "arguments": {"id": "n1"}}]}, {"answer": "so be it"}))
        client.serve("desk", lambda asked: next(answers), most=2)
        until(d, lambda: "completed" in d.witan("wake", "list", "--all").stdout)
        assert client.journal_get("n1")["id"] == "n1"


# --- a person at a node, whom a tool asks

def a_person_answers(choice, said, form=None):
    d = served("forms", 'mind = "mind.step"\n', 'asks = "person"\n')
    toml = d.dir / "witan.toml"
    toml.write_text(toml.read_text().replace("timeout_ms = 700", "timeout_ms = 60000"))

    def inbox(*words):
        return d.witan("inbox", *words)

    def asked():
        return json.loads(inbox("--kind", "form", "--json").stdout)["items"]
    with node(d):
        put_note(d)
        until(d, asked)
        [item] = asked()
        assert item["what"] == "asks: Really?" and item["subject"] == "box" and item["at"] < item["until"], item
        says(inbox(item["id"], choice), "needs the person")
        says(inbox(item["id"], "accept", "--by", "ann", "--form", '{"sure":"perhaps"}'), "sure")
        says(inbox(item["id"], "accept", "--by", "ann", "--form", '{"other":true}'), "no field")
        says(inbox(item["id"], "decline", "--by", "ann", "--form", "{}"), "takes no form")
        old = {**item["choices"][0]["request"], "digest": "0" * 64, "by": "ann"}
        with witan.connect(d.dir, role="counselor") as client, contextlib.suppress(witan.NotFound):
            client.post("/v1/inbox/form", old)
            raise AssertionError("another form was answered")
        says(inbox(item["id"], choice, "--by", "ann", *(["--form", form] if form else [])), "done", 0)
        until(d, d.puts)
        assert json.loads(d.puts()[0].split(" ", 1)[1]) == said, d.puts()
        assert asked() == []
        # Who answered what stands with the run.
        run = json.loads(d.witan("episode", "list", "--json").stdout)["episodes"][0]["run"]
        [kept] = json.loads(d.witan("episode", "show", run, "--json").stdout)["answers"]
        assert (kept["by"], kept["choice"], kept["item"]) == ("ann", said["action"], item["id"]), kept
        assert kept["said"] == ({"content": said["content"]} if "content" in said else {}), (kept, said)
        says(d.witan("episode", "show", run), f"ann  {said['action']} {item['id']}", 0)
        links = json.loads(d.witan("why", run, "--json").stdout)["links"]
        assert any(one["kind"] == "person" and one["id"] == "ann" and one["detail"]["answer"] == kept for one in links), links
        # From now on ann has a key, and signs.
        (d.dir.parent / "phrase").write_text("correct horse\n")
        phrase = {"WITAN_PASSPHRASE_FILE": str(d.dir.parent / "phrase")}
        key = d.dir.parent / "ann.pem"
        says(d.witan("person", "add", "ann", "--role", "budget.counselor", "--out", key, **phrase), "", 0)
        says(d.witan("feed", "-", text='{"id":"n2","type":"note","payload":{"text":"again"}}'), "", 0)
        until(d, asked)
        [item] = asked()
        says(inbox(item["id"], choice, "--by", "ann", *(["--form", form] if form else [])), "bears no signature of ann")
        says(d.witan("inbox", item["id"], choice, "--by", "ann", "--sign", key, *(["--form", form] if form else []), **phrase), "done", 0)
        until(d, lambda: len(d.puts()) == 2)
        runs = [one["run"] for one in json.loads(d.witan("episode", "list", "--json").stdout)["episodes"]]
        [other] = [one for one in runs if one != run]
        until(d, lambda: d.witan("why", other, "--signed", d.dir.parent / "why.note", "--force").returncode == 0)
        checked = d.witan("why", "--check", d.dir.parent / "why.note", "--vkey", d.dir / "device.vkey")
        says(checked, "bears the signature of ann", 0)


def a_form_has_its_id_for_good():
    """The node asks anew in its next life: whoever read the first form answers no other one under its id."""
    d = served("forms", 'mind = "mind.step"\n', 'asks = "person"\n')
    toml = d.dir / "witan.toml"
    toml.write_text(toml.read_text().replace("timeout_ms = 700", "timeout_ms = 60000"))
    ids = set()
    for _ in range(2):
        with node(d) as up:
            if not ids:
                put_note(d)
            items = []
            until(d, lambda: items.extend(json.loads(d.witan("inbox", "--kind", "form", "--json").stdout)["items"]) or items)
            ids.add(items[0]["id"])
            up.kill()
            up.wait()
    assert len(ids) == 2, ids


# --- a node in memory

def works_in_memory():
    """`witan dev` with the three agents of docs/examples: each files what it is woken for; then nothing is left."""
    examples = HERE.parents[1] / "docs/examples"
    dev = subprocess.Popen([WITAN, "dev", examples / "agents", "--policy", examples / "dev/policy.toml", "--entries",
                            examples / "dev/entries.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    place = pathlib.Path(dev.stdout.readline().strip().removeprefix("export WITAN_DIR="))

    def filed():
        listed = subprocess.run([WITAN, "journal", "list", "--dir", place, "--json"], capture_output=True, text=True)
        return {"triage/r-1", "care-plan/v-1", "draft/c-1"} <= {one["id"] for one in json.loads(listed.stdout or "{}").get("entities", [])}
    try:
        end = time.monotonic() + 60
        while not filed():
            assert time.monotonic() < end and dev.poll() is None, dev.stderr.read()
            time.sleep(0.1)
        shown = lambda: subprocess.run([WITAN, "agent", "show", "clinic-care-plan", "--dir", place, "--json"], capture_output=True, text=True)
        while "wants to walk more" not in shown().stdout:  # one of them learns
            assert time.monotonic() < end, shown()
            time.sleep(0.1)
    finally:
        dev.send_signal(signal.SIGINT)
        _, said = dev.communicate(timeout=30)
    assert dev.returncode == 0 and not place.exists() and not place.parent.exists(), said


with tempfile.TemporaryDirectory(prefix="witan-") as ROOT:
    is_listed()
    works_in_memory()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(dies_once_and_is_asked_again, ("never", "start", "read", "half", "answered", "broken", "flood", "twice")))
        list(pool.map(lambda case: dies_always(*case), (("start", "the program has ended: signal 9"), ("read", "signal 9"),
                      ("fails", "exit code 1: it cannot be"), ("refuses", "there is no text"), ("hang", "no answer within 5000 ms"),
                      ("broken", "has thought 8 times"))))
        died = list(pool.map(lambda case: node_dies(*case), ((step, moment, mode) for mode in ("idempotent", "once")
                             for step, moment in ((20, "before"), (45, "after"), (60, "after"), (75, "before"), (85, "after")))))
        assert any(died), died
        list(pool.map(comes_and_dies, ("never", "asked", "answered", "node-asked", "node-answered")))
        yes = {"action": "accept", "content": {"sure": True}}
        list(pool.map(lambda case: a_person_answers(*case), (("yes", yes), ("accept", yes, '{"sure":true}'),
                                                             ("decline", {"action": "decline"}))))
    writes_without_end()
    leaves_nobody_behind()
    answers_late()
    answers_too_much()
    waits_for_its_program_through_a_restart()
    answers_nobody_waits_for()
    a_form_has_its_id_for_good()
    print("ok")
