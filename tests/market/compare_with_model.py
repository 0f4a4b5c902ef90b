"""compare_with_model.py MODEL_DIR FILE: whether the reference model gives the outcomes of FILE, a JSON object a line.

A line holds the lines of a history with their outcomes and the balances at the end. Exit code 1: something differs; the
first difference is printed.
"""
import json
import os
import sys

model, path = sys.argv[1:3]
sys.path.insert(0, model)
import escrow  # noqa: E402


def differs(case, what, ours, theirs):
    print(f"case {case}: {what}\n  here:  {ours}\n  model: {theirs}", flush=True)
    os._exit(1)


def compare(text):
    case = json.loads(text)
    # The kernel names the operation of a line by its number, as the model does.
    outcomes, final = escrow.adjudicate(case["lines"])
    for line, ours, theirs in zip(case["lines"], case["outcomes"], outcomes):
        if ours != theirs:
            differs(case["case"], json.dumps(line)[:900], ours, theirs)
    if case["final"] != final:
        differs(case["case"], "at the end", case["final"], final)


cases = open(path, encoding="utf-8").read().splitlines()
# Two halves at once: a child takes the second.
child = os.fork()
for text in cases[len(cases) // 2:] if child == 0 else cases[:len(cases) // 2]:
    compare(text)
if child == 0:
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1] != 0)
