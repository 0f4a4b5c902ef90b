#!/usr/bin/python3
"""published_test.py WITAN: agents and rules that the admin gives to the devices of a cluster: what is signed comes and is
kept, what is not is refused, and old runs replay under the old version."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

WITAN = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = ("purchase.domain.toml",)  # of the examples, those that no build has
AGENT = 'id = "echo"\nwhat = "says {0}"\nprogram = ["{1}", "{0}"]\nlocale = ["device"]\nentries = ["note"]\n'
PROGRAM = '#!/usr/bin/python3\nimport sys\nfor line in sys.stdin:\n    print(\'{"answer": "%s"}\' % sys.argv[1], flush=True)\n'
POLICY = '''name = "echo"
version = 1
[[boundary]]
name = "journal"
locales = ["device"]
operation = [{ name = "read", allow = ["id"] }]
[[boundary]]
name = "echo"
locales = ["device"]
operation = [{ name = "step", allow = ["entries[].id"], excess = "redact" }]
[[grant]]
agent = "echo"
category = "agents"
locales = ["device"]
tools = ["journal.read", "echo.step"]
boundaries = ["journal", "echo"]
'''


class Device:
    def __init__(self, place, name):
        self.dir, self.log = pathlib.Path(place) / name, pathlib.Path(place) / (name + ".log")

    def witan(self, *words, text=None, code=0):
        done = subprocess.run([WITAN, *words, "--dir", self.dir], capture_output=True, text=True, timeout=60, input=text)
        assert code is None or done.returncode == code, done
        return done.stdout + done.stderr

    def start(self, *words):
        with open(self.log, "a") as log:
            self.up = subprocess.Popen([WITAN, "up", "--dir", self.dir, *words], stdout=log, stderr=log)
        assert "was not ready" not in self.witan("status", "--wait", "ready", "--timeout", "40", code=None), self.log.read_text()

    def stop(self):
        self.up.terminate()
        assert self.up.wait(30) == 0

    def until(self, holds):
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)

    def has(self, file, text):
        path = self.dir / file
        return path.exists() and path.read_text() == text


def runs(device, count):
    device.until(lambda: device.witan("wake", "list", "--all").count("completed") == count)
    return [one["run"] for one in json.loads(device.witan("episode", "list", "--json"))["episodes"]]


def of_a_cluster(place):
    program = pathlib.Path(place) / "echo.py"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    first, second = (AGENT.format(words, program) for words in ("first", "second"))
    file = pathlib.Path(place) / "echo.agent.toml"
    admin, other = Device(place, "admin"), Device(place, "other")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    admin.witan("init", "--name", "admin", "--partitions", "1", "--listen", f"127.0.0.1:{port}")
    admin.start()
    try:
        token = admin.witan("device", "invite", "--role", "ledger", "--role", "*").splitlines()[0]
        other.witan("join", token, "--name", "other", "--listen", "127.0.0.1:0")
        other.start()
        file.write_text(first)
        assert "echo.agent.toml  version 1" in admin.witan("publish", file)
        other.until(lambda: other.has("agents/echo.agent.toml", first))
        assert "echo.agent.toml  version 1" in other.witan("publish")
        assert "admin's key" in other.witan("publish", file, code=None)
        # It works there from the next start on.
        other.stop()
        (other.dir / "policy.toml").write_text(POLICY)
        config = other.dir / "witan.toml"
        assert "published_only = false" in config.read_text()
        config.write_text(config.read_text().replace("published_only = false", "published_only = true"))
        other.start("--agent", "echo")
        other.witan("feed", "-", text='{"id":"n1","type":"note","payload":1}')
        [old] = runs(other, 1)
        # The next version: both runs replay, each under its own.
        file.write_text(second)
        assert "version 2" in admin.witan("publish", file)
        other.until(lambda: other.has("agents/echo.agent.toml", second))
        other.stop()
        other.start("--agent", "echo")
        other.witan("feed", "-", text='{"id":"n2","type":"note","payload":2}')
        both = runs(other, 2)
        assert old in both and len(set(both)) == 2, both
        shown = "".join(other.witan("episode", "show", run) for run in both)
        assert "first" in shown and "second" in shown, shown
        for run in both:
            other.witan("episode", "replay", run)
        # Rules: they come, the nodes begin again with them, and none that decide otherwise take their place.
        purchase = ROOT / "docs/examples/purchase.domain.toml"
        admin.witan("publish", purchase)
        other.until(lambda: other.has("rules/purchase.domain.toml", purchase.read_text()))
        changed = pathlib.Path(place) / "purchase.domain.toml"
        changed.write_text(purchase.read_text().replace("limit = 1000", "limit = 2000"))
        admin.until(lambda: "policy.limit is another" in admin.witan("publish", changed, code=None))
        # No node would start with these, so none of them goes out.
        served = 'what = "w"\nserved = true\nlocale = ["device"]\n'
        note = 'entries = ["note"]\n'
        for name, text, why in (("slow.agent.toml", 'id = "slow"\ntimeoutMs = 300000\n' + served + note, "timeoutMs"),
                                ("never.agent.toml", 'id = "never"\ntimeoutMs = 0\n' + served + note, "timeoutMs"),
                                ("large.agent.toml", 'id = "large"\nmemoryMb = -1\n' + served + note, "memoryMb"),
                                ("journal.agent.toml", 'id = "journal"\n' + served + note, "taken"),
                                ("where.agent.toml", 'id = "where"\nlocale = ["de vice"]\nwhat = "w"\nserved = true\n' + note, "locale"),
                                ("seldom.agent.toml", 'id = "seldom"\neveryMs = 9223372036854775807\n' + served, "a timer of"),
                                ("nothing.agent.toml", 'id = "nothing"\nentries = [""]\n' + served, "entries-0"),
                                ("self.agent.toml", 'id = "self"\nwhat = "w"\nmind = "self.step"\n' + note, "is itself"),
                                ("void.agent.toml", 'id = "void"\nwhat = "w"\nprogram = [""]\n' + note, "no name"),
                                ("dot.agent.toml", 'id = "dot"\nrole = "."\n' + served + note, "role is"),
                                ("who.agent.toml", 'id = "who"\nrole = "budget.Nobody"\n' + served + note, "no role"),
                                ("lost.agent.toml", 'id = "lost"\nrole = "nowhere.X"\n' + served + note, "no domain"),
                                ("mute.agent.toml", 'id = "mute"\nledgers = [{domain = "budget", field = "x", value = "1"}]\n' + served,
                                 "no field"),
                                ("debt.agent.toml", 'id = "debt"\n' + served + note + "budget = { steps = 1, tokens = -1, seconds = 1 }\n", "budget is negative"),
                                ("used.agent.toml", 'id = "used"\n' + served + note + '[[tools]]\nname = "box.get"\nuses = -1\n',
                                 "uses of box.get"),
                                ("long.agent.toml", 'id = "long"\n' + served + note + "#" * 70_000, "65536"),
                                ("evidence.domain.toml", purchase.read_text().replace('"purchase"', '"evidence"', 1), "the market"),
                                *((path.name, path.read_text(), "compiled into this program")
                                  for path in sorted((ROOT / "docs/examples").glob("*.domain.toml")) if path.name not in OWN)):
            bad = pathlib.Path(place) / "bad" / name
            bad.parent.mkdir(exist_ok=True)
            bad.write_text(text)
            assert why in admin.witan("publish", bad, code=None), name
            assert name not in admin.witan("publish"), name
        for name, text, why in (("echo.agent.toml", "id = 1", "echo.agent.toml"), ("x.agent.toml", second, "must be named"),
                                ("x.txt", "x", "neither"), ("y.domain.toml", "domain = ", "y.domain.toml")):
            bad = pathlib.Path(place) / "bad" / name
            bad.parent.mkdir(exist_ok=True)
            bad.write_text(text)
            assert why in admin.witan("publish", bad, code=None), name
        other.stop()
        # What is not as it was published keeps a node from starting that wants it so.
        for name, text in (("agents/echo.agent.toml", first), ("agents/mine.agent.toml", first.replace("echo", "mine", 1)),
                           ("rules/purchase.domain.toml", changed.read_text())):
            before = (other.dir / name).read_text() if (other.dir / name).exists() else None
            (other.dir / name).write_text(text)
            assert "is not what the cluster's admin has published" in other.witan("up", code=None), name
            (other.dir / name).write_text(before) if before is not None else (other.dir / name).unlink()
        document = other.dir / "published/echo.agent.toml"
        signed = document.read_bytes()
        document.write_bytes(signed.replace(b"second", b"secomd"))
        assert "is not what the cluster's admin has published" in other.witan("up", code=None)
        document.write_bytes(signed)
        # What came by itself and cannot be taken here is left out, with an incident: the device has a tool of its name.
        config.write_text(config.read_text().replace("published_only = true", "published_only = false") +
                          '[tool.echo]\nkind = "command"\ncommand = ["true"]\nlooks = ["x"]\n')
        other.start("--agent", "echo")
        incidents = other.witan("incidents")
        assert "leftOut" in incidents and "of the cluster's admin" in incidents and "agents/echo.agent.toml" in incidents, incidents
        other.stop()
        config.write_text(config.read_text().split("[tool.echo]")[0])
        # And the way back: it goes again, from a node that still names it too.
        assert "withdrawn" in admin.witan("publish", "--withdraw", "echo.agent.toml")
        other.start("--agent", "echo")
        other.until(lambda: not (other.dir / "agents/echo.agent.toml").exists())
        other.stop()
        other.start("--agent", "echo")
        assert "echo.agent.toml  version 3  withdrawn" in other.witan("publish")
        assert "not published" in admin.witan("publish", "--withdraw", "echo.agent.toml", code=None)
        for run in both:
            other.witan("episode", "replay", run)
        assert "withdrawn" in admin.witan("publish", "--withdraw", purchase.name)
        other.until(lambda: not (other.dir / "rules/purchase.domain.toml").exists())
        admin.until(lambda: "version 3" in admin.witan("publish", purchase, code=None))
        other.until(lambda: other.has("rules/purchase.domain.toml", purchase.read_text()))
        other.stop()
    finally:
        admin.up.terminate()
        admin.up.wait(30)
        if hasattr(other, "up") and other.up.poll() is None:
            other.up.kill()
            other.up.wait(30)


with tempfile.TemporaryDirectory(prefix="witan-") as PLACE:
    of_a_cluster(PLACE)
    print("ok")
