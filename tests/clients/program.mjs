// A day with a node through clients/typescript.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Client, WitanError, connect } from "witan-client";

const node = connect();
const spend = { type: "SpendA", n: 1 };

async function proposes() {
  assert.equal((await node.begin("budget", "team")).outcome, "initialised");
  const first = await node.propose("budget", "team", "A", spend, { operationId: "one" });
  const again = await node.propose("budget", "team", "A", spend, { operationId: "one" });
  assert(first.outcome === "approved" && again.outcome === "approved");
  assert(!first.duplicate && again.duplicate && again.ledgerSeq === first.ledgerSeq);
  assert.equal((await node.ledger({ domain: "budget" })).length, 1);
}

async function proposesAll() {
  const of = (/** @type {number} */ n, /** @type {string} */ entity = "team") => ({ domain: "budget", entity, role: "A", action: { type: "SpendA", n } });
  const many = await node.proposeAll([of(1), of(1), of(200_000), of(1, "nobody")]);
  assert.deepEqual(many.map(({ outcome }) => outcome), ["approved", "approved", "rejected", "refused"]);
}

async function refuses() {
  await assert.rejects(node.slice("nowhere", "team"), (error) => error instanceof WitanError && error.status === 404);
  const url = process.env["WITAN_URL"] ?? "";
  await assert.rejects(new Client(url, "wrong").queue(), { code: "unauthorised", status: 401 });
  await assert.rejects(new Client("http://127.0.0.1:1", "t").queue(), { code: "unavailable", status: 0 });
}

async function watches() {
  for (const entity of ["a", "b", "c", "d"]) await node.begin("budget", entity);
  const watch = node.watchLedger({ domain: "budget", after: "0" });
  const seen = new Set();
  const take = async (/** @type {import("witan-client").LedgerWatch} */ from, /** @type {number} */ count) => {
    while (count-- > 0) {
      const next = await from.next();
      assert(next.value && "seq" in next.value);
      seen.add(`${next.value.partition}/${next.value.seq}`);
    }
  };
  for (const entity of ["a", "b", "c", "d"]) await node.propose("budget", entity, "A", spend);
  await take(watch, 3);
  await watch.return();
  for (const entity of ["a", "b"]) await node.propose("budget", entity, "A", spend);
  const resumed = node.watchLedger({ domain: "budget", after: watch.position });
  await take(resumed, 4);
  await node.propose("budget", "a", "A", spend);
  await take(resumed, 1);
  await resumed.return();
  assert.equal(seen.size, 8); // each once: 1 of team, 7 here
}

// A node that says what a real one says of a takeover: the reader is told, and its position is that of the event.
async function parts() {
  const asked = /** @type {(string | undefined)[]} */ ([]);
  const entry = (/** @type {number} */ seq) => `event: entry\ndata: {"partition":"d/0","seq":${seq},"entry":null}\n\n`;
  const answers = ["id: d/0/1.a\n\n" + "id: d/0/2.b\n" + entry(2),
    'id: d/0/1.a\nevent: parted\ndata: {"partition":"d/0","from":2}\n\n' + "id: d/0/2.c\n" + entry(2)];
  const server = createServer((request, response) => {
    asked.push(/** @type {string | undefined} */ (request.headers["last-event-id"]));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(answers.shift() ?? "");
  });
  await new Promise((ready) => { server.listen(0, "127.0.0.1", () => ready(undefined)); });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const watch = new Client(`http://127.0.0.1:${port}`, "t").watchLedger();
  const seen = [];
  while (seen.length < 6) {
    const { value } = await watch.next();
    assert(value);
    seen.push("parted" in value ? [value.parted, value.from] : [value.seq], watch.position);
  }
  await watch.return();
  server.closeAllConnections();
  server.close();
  assert.deepEqual(seen, [[2], "d/0/2.b", ["d/0", 2], "d/0/1.a", [2], "d/0/2.c"]);
  assert.deepEqual(asked.slice(0, 2), [undefined, "d/0/2.b"]);
  assert.throws(() => node.watchLedger({ after: /** @type {any} */ ({ "d/0": 2 }) }), { code: "invalidInput" });
  await assert.rejects(node.watchLedger({ after: "budget/0/2" }).next(), { code: "invalidInput", status: 400 });
}

async function watchesSlice() {
  const spent = [];
  for await (const slice of node.watchSlice("budget", "d", "A")) {
    spent.push(/** @type {any} */ (slice.state).spentA);
    if (spent.length === 2) break;
    await node.propose("budget", "d", "A", spend);
  }
  assert.deepEqual(spent, [1, 2]);
}

async function escalates() {
  await node.begin("moderation", "case");
  await node.propose("moderation", "case", "SignalTriage",
    { type: "ApplyLabel", entityType: "Post", entity: "p1", label: "scam_link", reason: "rule Scam_v2" });
  await node.propose("moderation", "case", "UserNotice",
    { type: "DraftNotice", n: "N1", action: "A1", facts: "link", clause: "Scams 4.2", redress: "appeal in app" });
  const ban = await node.propose("moderation", "case", "Enforcement",
    { type: "TakeAction", a: "A1", kind: "BAN", policy: "csam", item: "p1", evidence: ["L1"] });
  assert.equal(ban.outcome, "escalated");
  assert.equal((await node.settled(ban, "moderation", "case", { timeoutMs: 50 })).outcome, "escalated");
  const settled = node.settled(ban, "moderation", "case", { timeoutMs: 60_000 });
  const [row] = await node.queue("moderation");
  assert(row);
  const counselor = row.counselors[0] ?? "";
  assert.equal(typeof (await node.preview(row, counselor)).safe, "boolean");
  assert.equal((await node.commit(row, counselor, { reason: "seen" })).outcome, "cCommitted");
  const decision = await settled;
  assert(decision.outcome === "cCommitted" && decision.message === "seen");
}

async function journals() {
  assert((await node.journalPut("note", { text: "ü" }, { type: "note" })).dot);
  assert.deepEqual((await node.journalGet("note")).siblings[0]?.payload, { text: "ü" });
  assert.deepEqual((await node.journalList()).map((entity) => entity.id), ["note"]);
}

await proposes();
await refuses();
await watches();
await parts();
await watchesSlice();
await escalates();
await journals();
await proposesAll();
console.log("ok");
