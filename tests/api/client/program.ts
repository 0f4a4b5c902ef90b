// A day with a node through the client that was generated from its own OpenAPI document.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Decision = components["schemas"]["DecisionMade"] | components["schemas"]["DecisionWaiting"];

const url = process.env["WITAN_URL"] ?? "";
const token = process.env["WITAN_TOKEN"] ?? "";
const headers = { authorization: `Bearer ${token}` };
const node = createClient<paths>({ baseUrl: url, headers });

// The data of an answer; an error ends the program with its message.
function must<T>(answer: { data?: T; error?: components["schemas"]["Error"] }): T {
  if (answer.error !== undefined) assert.fail(`${answer.error.error.code}: ${answer.error.error.message}`);
  assert(answer.data !== undefined);
  return answer.data;
}

async function propose(
  domain: string, entity: string, role: string, action: { type: string } & Record<string, unknown>, operationId?: string,
): Promise<Decision> {
  const body = { domain, entity, role, action, ...(operationId === undefined ? {} : { operationId }) };
  return must(await node.POST("/v1/propose", { body }));
}

async function begin(domain: string, entity: string): Promise<void> {
  const begun: Decision = must(await node.POST("/v1/entities", { body: { domain, entity } }));
  assert.equal(begun.outcome, "initialised");
}

async function describes(): Promise<void> {
  const { domains } = must(await node.GET("/v1/domains"));
  assert(domains.some((domain) => domain.name === "budget"));
  const budget = must(await node.GET("/v1/domains/{domain}", { params: { path: { domain: "budget" } } }));
  assert.deepEqual(budget.roles.map((role) => role.name), ["A", "B"]);
  assert.equal(budget.invariants[0]?.class, "crossCutting");
  const spend = budget.processes.find((process) => process.name === "SpendA");
  assert.deepEqual(spend?.arguments, [{ name: "n", required: true, type: "integer" }]);
  assert.deepEqual(spend?.schema["required"], ["type", "n"]);
  const none = await node.GET("/v1/domains/{domain}", { params: { path: { domain: "nowhere" } } });
  assert.equal(none.response.status, 404);
  assert.equal(none.error?.error.code, "notFound");
}

async function proposes(): Promise<void> {
  await begin("budget", "team");
  const first = await propose("budget", "team", "A", { type: "SpendA", n: 45_000 }, "order-1");
  assert(first.outcome === "approved" && !first.duplicate);
  const again = await propose("budget", "team", "A", { type: "SpendA", n: 45_000 }, "order-1");
  assert(again.outcome === "approved" && again.duplicate && again.ledgerSeq === first.ledgerSeq);
  const much = await propose("budget", "team", "B", { type: "SpendB", n: 60_000 });
  assert(much.outcome === "rejected" && much.invariant === "BUDGET_CAP");
  const empty = await node.POST("/v1/propose", { body: { domain: "budget", entity: "team", role: "", action: {} } });
  assert.equal(empty.response.status, 400);
  const slice = must(await node.GET("/v1/slice", { params: { query: { domain: "budget", entity: "team", role: "A" } } }));
  assert.equal(slice.frozen, false);
}

async function decides(): Promise<void> {
  const facts = { facts: "link to phishing page", clause: "Scams 4.2", redress: "appeal in app; ODS body" };
  await begin("moderation", "case");
  const label = { type: "ApplyLabel", entityType: "Post", entity: "p1", label: "scam_link", reason: "rule Scam_v2" };
  assert.equal((await propose("moderation", "case", "SignalTriage", label)).outcome, "approved");
  const notice = { type: "DraftNotice", n: "N1", action: "A1", ...facts };
  assert.equal((await propose("moderation", "case", "UserNotice", notice)).outcome, "approved");
  const ban = { type: "TakeAction", a: "A1", kind: "BAN", policy: "csam", item: "p1", evidence: ["L1"] };
  assert.equal((await propose("moderation", "case", "Enforcement", ban)).outcome, "escalated");
  const { queue } = must(await node.GET("/v1/queue", { params: { query: { domain: "moderation" } } }));
  const [waiting] = queue;
  assert(waiting !== undefined && queue.length === 1);
  const counselor = waiting.counselors[0];
  assert(counselor !== undefined);
  const { domain, entity, digest } = waiting;
  const decided = must(await node.POST("/v1/queue/decide", {
    body: { domain, entity, digest, counselor, decision: "commit", reason: "seen and agreed" },
  }));
  assert(decided.outcome === "cCommitted" && typeof decided.safe === "boolean");
  assert.equal(must(await node.GET("/v1/queue")).queue.length, 0);
}

async function reads(): Promise<void> {
  const query = { domain: "moderation", limit: 100 };
  const { entries } = must(await node.GET("/v1/ledger", { params: { query } }));
  assert.deepEqual(entries.map((row) => row.entry?.tag).slice(-2), ["escalated", "cCommitted"]);
  const report = must(await node.GET("/v1/ledger/verify", { params: { query: { replay: true } } }));
  assert(report.ok && report.entries >= entries.length);
  const status = must(await node.GET("/v1/status"));
  assert.equal(status.waitingForCounselor, 0);
  const metrics = await node.GET("/metrics", { parseAs: "text" });
  assert.match(metrics.data ?? "", /^witan_store_up 1$/m);
}

// The stream is no JSON: its events are rows of the ledger.
async function follows(): Promise<void> {
  const stop = new AbortController();
  const stream = await node.GET("/v1/ledger/stream", {
    params: { query: { domain: "budget" } }, parseAs: "stream", signal: stop.signal,
  });
  assert(stream.data !== undefined && stream.data !== null);
  await propose("budget", "team", "A", { type: "SpendA", n: 1 });
  let text = "";
  for await (const part of stream.data.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (/\ndata: .*\n/.test(text)) break;
  }
  stop.abort();
  const row = JSON.parse(/\ndata: (.*)\n/.exec(text)?.[1] ?? "null") as components["schemas"]["LedgerRow"];
  assert.deepEqual(row.entry?.action, { n: 1, type: "SpendA" });
}

await describes();
await proposes();
await decides();
await reads();
await follows();
console.log("ok");
