#!/usr/bin/env python3
"""Thinks for the agent `clerk` of a running node (docs/tools.md): ships what is paid."""
import witan


def think(asked):
    paid = [entry["id"] for entry in asked["entries"] if entry["payload"]["paid"]]
    if not paid:
        return {"answer": "nothing is paid yet"}
    return {"actions": [{"tool": "shipping.ship", "arguments": {"order": order}} for order in paid]}


with witan.connect() as node:
    node.serve("clerk", think)
