#!/usr/bin/python3
"""dying.py HOW MARK: the program of the agent `desk` (tests/tools/serve_test.py). It reads a question a line, and puts the
text into the box. Once, if the file MARK is not there yet, or always, if MARK is "-", it does what HOW says."""
import json
import os
import signal
import sys
import time

HOW, MARK = sys.argv[1:3]


def due(how):
    if HOW != how or (MARK != "-" and os.path.exists(MARK)):
        return False
    if MARK != "-":
        open(MARK, "w").close()
    return True


def die():
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


if due("start"):
    die()
late = None
for line in sys.stdin:
    asked = json.loads(line)
    if due("read"):
        die()
    answer = json.dumps({"actions": [{"tool": "box.put", "arguments": {"text": asked["entries"][0]["payload"]["text"]}}]})
    if due("half"):
        sys.stdout.write(answer[:20])
        die()
    if due("hang"):
        time.sleep(60)
    if due("flood"):
        sys.stdout.write("x" * (2 << 20) + "\n")
    if due("broken"):
        answer = '{"actions": [{"tool": '
    if due("words"):
        for _ in range(100):
            sys.stdout.write("word\n" * 10_000)
    if due("leaves"):
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
            except OSError:
                pass
            time.sleep(300)
            os._exit(0)
        with open(MARK, "w") as out:
            out.write(str(child))
    if HOW == "late":  # each answer comes again, when the next question is there
        if late:
            print(late, flush=True)
        late = json.dumps({**json.loads(answer), "question": asked["question"]})
    if due("fails"):
        sys.exit("it cannot be")
    if due("refuses"):
        answer = json.dumps({"failed": "there is no text"})
    print("thinking", flush=True)  # no answer: it is for the log
    print(answer, flush=True)
    if due("twice"):
        print(answer, flush=True)
    if due("answered"):
        die()
