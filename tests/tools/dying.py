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
