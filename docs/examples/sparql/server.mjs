// An MCP server with an RDF store of Oxigraph, for SPARQL and ontologies as tools of agents (docs/tools.md): server.mjs
// FILE.ttl. It answers queries and changes nothing; results are bounded by the node that asks.
import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import oxigraph from "oxigraph";
import { z } from "zod";

const store = new oxigraph.Store();
store.load(readFileSync(process.argv[2], "utf8"), { format: "text/turtle" });

const shown = (term) => (term.termType === "NamedNode" ? term.value : { value: term.value, type: term.termType });

function query({ sparql }) {
  try {
    const found = store.query(sparql);
    const rows = typeof found === "boolean" ? [{ holds: found }]
      : found.map((row) => (row instanceof Map ? Object.fromEntries([...row].map(([name, term]) => [name, shown(term)]))
        : { subject: shown(row.subject), predicate: shown(row.predicate), object: shown(row.object) }));
    return { content: [{ type: "text", text: JSON.stringify(rows) }] };
  } catch (cause) {
    return { isError: true, content: [{ type: "text", text: String(cause.message ?? cause) }] };
  }
}

serveStdio(() => {
  const server = new McpServer({ name: "sparql", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("query", { description: "SELECT, ASK or CONSTRUCT over the file's triples",
    inputSchema: z.object({ sparql: z.string().max(10_000) }), annotations: { readOnlyHint: true } }, query);
  return server;
});
