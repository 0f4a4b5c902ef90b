"""An agent of joint admissibility (docs/coordination.md): it tries a free resource at random until one is its own.

It reads JSON Lines: first who it is and what it may do, then one observation an epoch. It answers each observation.
"""

import json
import random
import sys

me = json.loads(sys.stdin.readline())
draw = random.Random(me["agent"])  # the same agent draws the same: a run can be repeated
mine = None
for line in sys.stdin:
    seen = json.loads(line)
    if seen["own_last_outcome"] == "EXECUTED":
        mine = seen["own_last_choice"]
    if mine is None:
        open_to_me = [
            number
            for number, action in enumerate(me["choices"])
            if isinstance(action, dict) and all(seen["world_state"].get(key) == "free" for key in action["declared_scope"])
        ]
        choice = draw.choice(open_to_me) if open_to_me else None
    else:
        choice = mine
    print(json.dumps({"choice": choice, "message": None, "exit": False}), flush=True)
