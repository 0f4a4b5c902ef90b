"""compare_with_model.py MODEL_DIR FILE: whether the reference model gives the answers of FILE, a JSON object a line.

A line holds a document with its findings, or a case with its ledger and result, or with an error: then the model must
fail too. Exit code 1: something differs; the first difference is printed.
"""
import json
import sys

model, path = sys.argv[1:3]
sys.path.insert(0, model)
import graph_lint  # noqa: E402
import graph_run  # noqa: E402

MOST = 2 ** 63 - 1
failed = compared = 0


def differs(case, what, ours, theirs):
    print(f"case {case}: {what}\n  here:  {json.dumps(ours)[:1500]}\n  model: {json.dumps(theirs)[:1500]}")
    sys.exit(1)


def compare_checks(line):
    theirs = graph_lint.lint(line["document"], line["environment"])
    bound = theirs["bound"]
    theirs = {"errors": theirs["errors"], "warnings": theirs["warnings"], "bound": bound and min(bound, MOST)}
    for member, value in theirs.items():
        if line[member] != value:
            differs(line["case"], f"{member} of {json.dumps(line['document'])}", line[member], value)


def compare_run(line):
    theirs = graph_run.run(line["scripted"])
    ours = {"ledger": line["ledger"], **line.get("result", {"error": line.get("error")})}
    for mine, other in zip(ours["ledger"], theirs["ledger"]):
        if mine != other:
            differs(line["case"], f"a line of {json.dumps(line['scripted'])}", mine, other)
    for member, value in theirs.items():
        if ours.get(member) != value:
            differs(line["case"], f"{member} of {json.dumps(line['scripted'])}", ours.get(member), value)


for text in open(path, encoding="utf-8"):
    line = json.loads(text)
    try:
        compare_run(line) if "scripted" in line else compare_checks(line)
        compared += 1
    except Exception as error:  # noqa: BLE001  the model has no other way to refuse
        failed += 1
        if "result" in line:
            differs(line["case"], json.dumps(line["scripted"]), line["result"], repr(error))
print(f"{compared} cases agree, of {failed} the model has no answer")
sys.exit(0 if compared > failed * 9 else 1)
