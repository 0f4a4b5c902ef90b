// sdk.mjs PROGRAM DIR URL TOKEN COUNSELOR_TOKEN: the SDKs of both lines against a running node, over stdio and HTTP. Prints a
// line for each connection; an exception ends it.
import assert from "node:assert/strict";
import { Client as Old } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as New, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";

const [program, dir, url, operator, counselor] = process.argv.slice(2);
const info = { name: "sdk-test", version: "1" };
const capabilities = { elicitation: {} };
const decide = () => ({ action: "accept", content: { decision: "commit although unsafe", reason: "seen" } });
let entities = 0;

const stdio = (Transport, ...options) => new Transport({ command: program, args: ["mcp", "--dir", dir, ...options] });
const http = (Transport, token) =>
  new Transport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const old = () => {
  const client = new Old(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => decide());
  return client;
};
const fresh = (mode) => () => {
  const client = new New(info, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", async () => decide());
  return client;
};
const parsed = (result) => result.structuredContent;

async function works(client) {
  const entity = `sdk-${++entities}`;
  const { tools } = await client.listTools();
  assert(tools.some((tool) => tool.name === "budget.SpendA"));
  const call = async (name, args) => parsed(await client.callTool({ name, arguments: args }));
  assert.equal((await call("begin", { domain: "budget", entity })).outcome, "initialised");
  assert.equal((await call("budget.SpendA", { entity, action: { n: 7 } })).outcome, "approved");
  const { contents } = await client.readResource({ uri: `witan://budget/${entity}/slice/A` });
  assert.equal(JSON.parse(contents[0].text).state.spentA, 7);
  await assert.rejects(client.callTool({ name: "answer", arguments: {} }));
  const failed = await client.callTool({ name: "slice", arguments: { domain: "nowhere", entity } });
  assert.equal(failed.isError, true);
  const entity2 = `case-${entities}`;
  await call("begin", { domain: "moderation", entity: entity2 });
  await call("moderation.ApplyLabel", { entity: entity2, action: { entityType: "Post", entity: "p1", label: "scam_link", reason: "rule Scam_v2" } });
  await call("moderation.DraftNotice", { entity: entity2, action: { n: "N1", action: "A1", facts: "link", clause: "Scams 4.2", redress: "appeal" } });
  return entity2;
}

async function escalates(client, entity) {
  const action = { a: "A1", kind: "BAN", policy: "csam", item: "p1", evidence: ["L1"] };
  const result = await client.callTool({ name: "moderation.TakeAction", arguments: { entity, action } });
  assert.equal(parsed(result).outcome, "cCommitted", JSON.stringify(result));
}

const as = ["--as", "moderation.Enforcement", "--counselor", "human.lead"];
for (const [name, make, Stdio, Http] of [
  ["v1, 2025-11-25", old, OldStdio, OldHttp],
  ["v2, legacy", fresh("legacy"), NewStdio, NewHttp],
  ["v2, auto", fresh("auto"), NewStdio, NewHttp],
  ["v2, 2026-07-28", fresh({ pin: "2026-07-28" }), NewStdio, NewHttp],
])
  for (const [way, everyone, one] of [
    ["stdio", () => stdio(Stdio), () => stdio(Stdio, ...as)],
    ["http", () => http(Http, operator), () => http(Http, counselor)],
  ]) {
    const client = make();
    await client.connect(everyone());
    const entity = await works(client);
    await client.close();
    const person = make();
    await person.connect(one());
    await escalates(person, entity);
    await person.close();
    console.log(`${name}, ${way}: ok`);
  }
