"""Tests of clients/python: the wire against hostile bytes, and everything else against a real node.

PROGRAM_UNDER_TEST names the program. Each class with a node starts one in a folder of its own and stops it.
"""
import asyncio
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import witan
from witan import operations as ops
from witan import wire
from witan.locate import endpoint_of

PROGRAM = os.environ["PROGRAM_UNDER_TEST"]


class RealNode(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="witan-")
        self.dir = self.folder.name + "/node"
        self.run_witan("init", "--name", "py", "--partitions", "2", "--listen", self.listen())
        self.start()

    def listen(self):
        return "127.0.0.1:0"

    def tearDown(self):
        self.stop()
        self.folder.cleanup()

    def run_witan(self, *words):
        return subprocess.run([PROGRAM, *words, "--dir", self.dir], check=True, capture_output=True, text=True).stdout

    def start(self, listen=None):
        environment = dict(os.environ) | ({"WITAN_CONTROL_LISTEN": listen} if listen else {})
        with open(self.folder.name + "/log", "ab") as log:
            self.process = subprocess.Popen([PROGRAM, "up", "--dir", self.dir], stdout=log, stderr=log, env=environment)
        self.run_witan("status", "--wait", "ready", "--timeout", "60")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def escalate(self, node, case="case"):
        node.begin("moderation", case)
        for role, action in (
                ("SignalTriage", {"type": "ApplyLabel", "entityType": "Post", "entity": "p1", "label": "scam_link",
                                  "reason": "rule Scam_v2"}),
                ("UserNotice", {"type": "DraftNotice", "n": "N1", "action": "A1", "facts": "link to a phishing page",
                                "clause": "Scams 4.2", "redress": "appeal in app"})):
            self.assertEqual(node.propose("moderation", case, role, action)["outcome"], "approved")
        ban = {"type": "TakeAction", "a": "A1", "kind": "BAN", "policy": "csam", "item": "p1", "evidence": ["L1"]}
        return node.propose("moderation", case, "Enforcement", ban)


class Decisions(RealNode):
    def test_a_repeated_operation_is_answered_from_the_ledger(self):
        with witan.connect(self.dir) as node:
            self.assertEqual(node.begin("budget", "team")["outcome"], "initialised")
            spend = {"type": "SpendA", "n": 60000}
            first = node.propose("budget", "team", "A", spend, operation_id="one")
            again = node.propose("budget", "team", "A", spend, operation_id="one")
            self.assertEqual((first["outcome"], first["duplicate"]), ("approved", False))
            self.assertEqual((again["ledgerSeq"], again["duplicate"]), (first["ledgerSeq"], True))
            refused = node.propose("budget", "team", "B", {"type": "SpendB", "n": 60000})
            self.assertEqual((refused["outcome"], refused["invariant"]), ("rejected", "BUDGET_CAP"))
            self.assertEqual(node.slice("budget", "team", "A")["state"]["spentA"], 60000)
            self.assertEqual([row["seq"] for row in node.ledger(domain="budget")], [1, 2])

    def test_many_at_once(self):
        def of(entity, n, **more):
            return {"domain": "budget", "entity": entity, "role": "A", "action": {"type": "SpendA", "n": n}, **more}
        with witan.connect(self.dir) as node:
            for entity in "ab":
                node.begin("budget", entity)
            asked = [of("ab"[i % 2], 1, operationId=f"op-{i}") for i in range(600)]
            made = node.propose_all(asked)
            self.assertEqual([one["outcome"] for one in made], ["approved"] * 600)
            self.assertEqual([one["ledgerSeq"] for one in node.propose_all(asked)], [one["ledgerSeq"] for one in made])
            self.assertEqual(node.slice("budget", "a", "A")["state"]["spentA"], 300)
            mixed = node.propose_all([of("a", 100_000), of("nobody", 1), of("a", 1)])
            self.assertEqual([one["outcome"] for one in mixed], ["rejected", "refused", "approved"])
            self.assertEqual(len({one["operationId"] for one in mixed}), 3)
            with self.assertRaises(witan.InvalidInput):
                node.post("/v1/proposals", {"proposals": [of("a", 1)] * 257})

    def test_errors_have_the_code_of_the_node(self):
        with witan.connect(self.dir, role="observer") as node:
            with self.assertRaises(witan.Unauthorised) as caught:
                node.begin("budget", "team")
            self.assertEqual(caught.exception.status, 403)
            with self.assertRaises(witan.NotFound):
                node.slice("nowhere", "team")
            with self.assertRaises(witan.InvalidInput):
                node.get("/v1/slice", domain="")
        with self.assertRaises(witan.Unavailable):
            witan.connect(self.folder.name)

    def test_a_restart_within_a_session_is_not_seen(self):
        with witan.connect(self.dir) as node:
            node.begin("budget", "team")
            self.stop()
            with self.assertRaises(witan.Unavailable):
                node.propose("budget", "team", "A", {"type": "SpendA", "n": 1}, timeout=0)
            self.start()
            self.assertEqual(node.propose("budget", "team", "A", {"type": "SpendA", "n": 1})["outcome"], "approved")

    def test_over_tcp_with_a_token(self):
        self.stop()
        self.start("127.0.0.1:0")
        folder = pathlib.Path(self.dir)
        address = json.loads((folder / "control.json").read_text())["address"]
        token = json.loads((folder / "control.tokens").read_text())["operator"]
        with witan.connect(url="http://" + address, token=token) as node:
            self.assertEqual(node.begin("budget", "tcp")["outcome"], "initialised")
        with witan.connect(url="http://" + address, token="x" * len(token)) as node:
            with self.assertRaises(witan.Unauthorised):
                node.queue()


class Counselors(RealNode):
    def test_a_proposal_is_settled_by_its_counselor(self):
        with witan.connect(self.dir) as node, witan.connect(self.dir, role="counselor") as counselor:
            escalated = self.escalate(node)
            self.assertEqual(escalated["outcome"], "escalated")
            self.assertEqual(node.settled(escalated, "moderation", "case", timeout=0.05), escalated)
            settled = []
            waiter = threading.Thread(
                target=lambda: settled.append(node.settled(escalated, "moderation", "case", timeout=60)))
            waiter.start()
            [row] = counselor.queue("moderation")
            preview = counselor.preview(row, row["counselors"][0])
            decision = counselor.commit(row, row["counselors"][0], reason="seen")
            self.assertEqual((decision["outcome"], decision["safe"]), ("cCommitted", preview["safe"]))
            waiter.join()
            self.assertEqual((settled[0]["outcome"], settled[0]["ledgerSeq"]), ("cCommitted", decision["ledgerSeq"]))
            self.assertEqual(node.settled(escalated, "moderation", "case")["outcome"], "cCommitted")
            self.assertEqual(counselor.queue(), [])

    def test_a_rejection(self):
        with witan.connect(self.dir) as node, witan.connect(self.dir, role="counselor") as counselor:
            escalated = self.escalate(node)
            [row] = counselor.queue()
            counselor.reject(row, row["counselors"][0], reason="not this one")
            settled = node.settled(escalated, "moderation", "case", timeout=30)
            self.assertEqual((settled["outcome"], settled["message"]), ("cRejected", "not this one"))


class Watches(RealNode):
    def spend(self, node, entity, count):
        for _ in range(count):
            node.propose("budget", entity, "A", {"type": "SpendA", "n": 1})

    def test_a_watch_resumes_where_it_was_also_after_a_restart(self):
        with witan.connect(self.dir) as node:
            for entity in "abcd":  # of both partitions
                node.begin("budget", entity)
                self.spend(node, entity, 2)
            with node.watch_ledger(domain="budget", after="0", timeout=60) as watch:
                first = [next(watch) for _ in range(5)]
            for entity in "abcd":
                self.spend(node, entity, 1)
            with node.watch_ledger(domain="budget", after=watch.position, timeout=60) as again:
                rest = [next(again) for _ in range(3)]
                self.stop()
                self.start()
                self.spend(node, "a", 3)
                rest += [next(again) for _ in range(7)]
            places = [(row["partition"], row["seq"]) for row in first + rest]
            self.assertEqual(len(set(places)), 15)
            for partition in {place[0] for place in places}:
                numbers = [seq for name, seq in places if name == partition]
                self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_without_a_position_a_watch_begins_with_new_entries(self):
        with witan.connect(self.dir) as node:
            node.begin("budget", "a")
            self.spend(node, "a", 2)
            seen = []
            with node.watch_ledger(entity="a", timeout=60) as watch:
                taker = threading.Thread(target=lambda: seen.append(next(watch)))
                taker.start()
                while taker.is_alive():
                    self.spend(node, "a", 1)
                    taker.join(0.01)
            self.assertGreater(seen[0]["seq"], 2)
            self.assertEqual(list(node.watch_ledger(entity="b", timeout=0.05)), [])

    def test_a_slice_is_shown_again_when_it_changes(self):
        with witan.connect(self.dir) as node:
            node.begin("budget", "a")
            with node.watch_slice("budget", "a", "A", timeout=60) as watch:
                spent = [next(watch)["state"]["spentA"]]
                self.spend(node, "a", 1)
                spent.append(next(watch)["state"]["spentA"])
            self.assertEqual(spent, [0, 1])

    def test_the_journal(self):
        with witan.connect(self.dir) as node:
            for content in {"text": "ü"}, None, [1, 2.5]:
                self.assertIsNotNone(node.journal_put("note", content, type="note")["dot"])
                self.assertEqual(node.journal_get("note")["siblings"][0].get("payload"), content)
            self.assertIsNone(node.journal_put("note", [1, 2.5])["dot"])
            self.assertEqual([entity["id"] for entity in node.journal_list()], ["note"])


class Parting(RealNode):
    """`dir` owned the ledger and was cut off when `other` took it over."""

    def listen(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            return f"127.0.0.1:{free.getsockname()[1]}"

    def setUp(self):
        super().setUp()
        self.mine, self.other = self.dir, self.folder.name + "/other"
        self.processes = [self.process]
        token = self.run_witan("device", "invite", "--role", "ledger", "--role", "takeover", "--role", "*").strip()
        self.dir = self.other
        self.run_witan("join", token, "--name", "other", "--listen", self.listen())
        self.start()
        self.run_witan("status", "--wait", "connected", "--timeout", "60")
        self.processes.append(self.process)

    def tearDown(self):
        for self.process in self.processes:
            self.stop()
        self.folder.cleanup()

    def until_equal(self, first, second):
        for _ in range(600):
            if [row["leafHash"] for row in first.ledger(domain="budget")] == [
                    row["leafHash"] for row in second.ledger(domain="budget")]:
                return
            time.sleep(0.1)
        self.fail("the copies differ")

    def spend(self, node, amount):
        decided = node.propose("budget", "team", "A", {"type": "SpendA", "n": amount})
        self.assertEqual(decided["outcome"], "approved")

    def test_a_watch_hands_over_where_a_takeover_parted_the_ledger(self):
        def of(item):
            return ("parted", item.start) if isinstance(item, witan.Parted) else (
                item["seq"], item["entry"]["action"]["n"])
        with witan.connect(self.mine) as node, witan.connect(self.other) as other:
            node.begin("budget", "team")
            self.spend(node, 1)
            self.until_equal(node, other)
            with node.watch_ledger(entity="team", after="0", timeout=60) as watch:
                first, position = next(watch), watch.position
                self.run_witan("peers", "cut", "py")
                self.spend(node, 11)
                self.spend(node, 12)
                self.assertEqual([of(next(watch)) for _ in range(2)], [(2, 11), (3, 12)])
                parted = watch.position
                self.run_witan("partition", "seize", first["partition"], "--reason", "away")
                self.spend(other, 21)
                self.spend(other, 22)
                self.run_witan("peers", "heal", "py")
                self.assertEqual([of(next(watch)) for _ in range(3)], [("parted", 2), (2, 21), (3, 22)])
            self.until_equal(node, other)
            for there in node, other:
                with there.watch_ledger(entity="team", after=parted, timeout=60) as again:
                    self.assertEqual([of(next(again)) for _ in range(3)], [("parted", 2), (2, 21), (3, 22)])
                with there.watch_ledger(entity="team", after=position, timeout=60) as again:
                    self.assertEqual([of(next(again)) for _ in range(2)], [(2, 21), (3, 22)])
            for wrong in "budget/0/2", {}, {"budget/0": 2}:
                with self.assertRaises(witan.InvalidInput):
                    next(node.watch_ledger(after=wrong, timeout=60))


class Settling(unittest.TestCase):
    """The steps of settled(), without a node."""

    def begun(self, rows):
        decision = {"operationId": "o", "outcome": "escalated", "duplicate": False, "ledgerSeq": 7}
        steps = ops.settled(decision, "d", "e", None)
        next(steps)
        self.assertEqual(steps.send({"partition": "d/0"}).after, "")
        steps.send(None)
        return steps, lambda: steps.send({"entries": rows})

    def test_a_decision_from_before_the_stream_is_found(self):
        row = {"seq": 8, "entry": {"escalation": 7, "tag": "cRejected", "reason": "no", "operationId": "p"}}
        _, page = self.begun([row])
        with self.assertRaises(StopIteration) as end:
            page()
        self.assertEqual((end.exception.value["outcome"], end.exception.value["ledgerSeq"]), ("cRejected", 8))

    def test_an_escalation_that_was_set_aside_is_told(self):
        steps, page = self.begun([])
        page()
        steps.send(wire.Event("x", "parted", json.dumps({"partition": "d/0", "from": 8})))
        with self.assertRaises(witan.Conflict):
            steps.send(wire.Event("y", "parted", json.dumps({"partition": "d/0", "from": 7})))


class Asynchronous(RealNode):
    def test_many_calls_at_a_time_while_a_watch_runs(self):
        async def work():
            async with witan.connect_async(self.dir) as node:
                await node.begin("budget", "a")
                async with node.watch_ledger(domain="budget", after="0", timeout=60) as watch:
                    action = {"type": "SpendA", "n": 1}
                    made = await asyncio.gather(*(node.propose("budget", "a", "A", action) for _ in range(100)))
                    seen = [(await anext(watch))["seq"] for _ in range(100)]
                return sorted(decision["ledgerSeq"] for decision in made), seen
        made, seen = asyncio.run(work())
        self.assertEqual(made, list(range(1, 101)))
        self.assertEqual(seen, made)

    def test_an_escalation(self):
        with witan.connect(self.dir) as node:
            escalated = self.escalate(node)

        async def work():
            async with witan.connect_async(self.dir, role="admin") as node:
                waiting = asyncio.create_task(node.settled(escalated, "moderation", "case", timeout=60))
                [row] = await node.queue()
                await node.commit(row, row["counselors"][0])
                return (await waiting)["outcome"]
        self.assertEqual(asyncio.run(work()), "cCommitted")


class Locating(unittest.TestCase):
    def test_addresses(self):
        six = endpoint_of("http://[::1]:7621", "t")
        self.assertEqual((six.host, six.port, six.host_header), ("::1", 7621, "[::1]:7621"))
        self.assertEqual(endpoint_of("unix:/run/w.sock", "t").path, "/run/w.sock")
        for wrong in ("nowhere", "localhost:99999", "localhost:x"):
            with self.assertRaises(witan.InvalidInput):
                endpoint_of(wrong, "t")

    def test_damaged_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "[]", "{}", "\x00"):
                (pathlib.Path(folder) / "control.json").write_text(text)
                with self.assertRaises(witan.WitanError) as refused:
                    witan.connect(folder)
                self.assertEqual(refused.exception.code, "corrupt")


class Wire(unittest.TestCase):
    def read(self, text, sizes=(1, 7, 10_000)):
        for size in sizes:
            response = wire.Response()
            for at in range(0, len(text), size):
                response.feed(text[at:at + size])
        return response

    def test_bodies(self):
        response = self.read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        self.assertEqual((response.take_body(), response.reusable), (b"hello", True))
        response = self.read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        self.assertEqual((response.take_body(), response.done), (b"abcde", True))
        response = self.read(b"HTTP/1.1 200 OK\r\n\r\nabc")
        response.end_of_input()
        self.assertEqual((response.take_body(), response.done), (b"abc", True))

    def test_hostile_bytes_are_refused(self):
        for text in (b"SSH-2.0\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nnocolon\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
                     b"HTTP/1.1 200 OK\r\nA: " + b"a" * wire.HEAD_MAX):
            with self.assertRaises(wire.WireError, msg=text[:60]):
                self.read(text)
        with self.assertRaises(wire.WireError):
            self.read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe").end_of_input()
        with self.assertRaises(ValueError):
            wire.request_bytes("GET", "/v1/a b", "localhost", "t", None)
        with self.assertRaises(ValueError):
            wire.request_bytes("GET", "/v1/a", "localhost", "t", None, "1\r\nX: y")

    def test_events(self):
        events = wire.Events()
        text = b": comment\n\nid: p/1\nevent: entry\ndata: a\ndata: b\n\nid: 2\r\ndata:c\r\n\r\ndata: unfinished"
        found = [event for byte in text for event in events.feed(bytes([byte]))]
        self.assertEqual(found, [wire.Event("p/1", "entry", "a\nb"), wire.Event("2", "message", "c")])
        self.assertEqual(wire.Events().feed(b"id: 3\n\n: alive\n\n"), [wire.Event("3", "message", "")])
        with self.assertRaises(wire.WireError):
            events.feed(b"x" * (wire.EVENT_MAX + 1))

    def test_a_peer_that_ends_within_an_answer_is_unavailable(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                link, _ = server.accept()
                with link:
                    link.recv(4096)
                    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")
            peer = threading.Thread(target=answer)
            peer.start()
            with witan.connect(url=f"http://127.0.0.1:{server.getsockname()[1]}", token="t") as node:
                with self.assertRaises(witan.Unavailable):
                    node.queue()
            peer.join()


if __name__ == "__main__":
    unittest.main()
