"""The agent `desk` of the tests of tools outside, and its policy."""
POLICY = """
name = "desk"
version = 1
[[boundary]]
name = "mind"
locales = ["device"]
[[boundary.operation]]
name = "step"
allow = ["agent", "round", "wake.reason", "entries[].id", "entries[].payload.text", "observations[].tool", "observations[].ok", "observations[].content"]
excess = "redact"
[[boundary]]
name = "box"
locales = ["device"]
[[boundary.operation]]
name = "get"
allow = ["text"]
[[boundary.operation]]
name = "put"
allow = ["text"]
[[boundary]]
name = "llm"
locales = ["device"]
[[boundary.operation]]
name = "chat"
inference = true
allow = ["system", "maxTokens", "messages[].role", "messages[].text", "messages[].id", "tools[].name"]
excess = "redact"
[[boundary]]
name = "journal"
locales = ["device"]
[[boundary.operation]]
name = "read"
allow = ["id"]
[[grant]]
agent = "desk"
category = "agents"
locales = ["device"]
tools = ["mind.step", "box.get", "box.put", "journal.read", "llm.chat"]
boundaries = ["mind", "box", "journal", "llm"]
scopes = []
models = [{ provider = "stub", model = "m-1" }]
"""
AGENT = """
id = "desk"
what = "puts notes into a box"
locale = ["device"]
entries = ["note"]
"""
TOOLS = """
[[tools]]
name = "box.get"
[[tools]]
name = "box.put"
action = true
"""
