// See index.d.ts.
import { eventsOf } from "./events.js";

const SERVER_WAIT_MS = 120_000; // a node waits no longer for one decision
const PAGE = 1000;
const BATCH = 256; // proposals that a node takes at once
const PAUSE_FIRST_MS = 50, PAUSE_MOST_MS = 2000;

export class WitanError extends Error {
  constructor(code, message, hint = "", status = 0) {
    super(hint ? `${message} (${hint})` : message);
    Object.assign(this, { name: "WitanError", code, hint, status });
  }
}

class Thrown extends Error {} // by the caller's function: no fault of the connection
const thrown = (cause) => { throw new Thrown("thrown", { cause }); };

const unreachable = (error) => error instanceof WitanError && error.code === "unavailable";

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => { clearTimeout(timer); reject(signal.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function targetOf(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? path : `${path}?${given.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}`;
}

async function errorOf(response) {
  const body = await response.json().catch(() => null);
  const { code, message, hint } = body?.error ?? {};
  if (typeof message !== "string") return new WitanError("unavailable", `the node answered ${response.status}`, "see its log", response.status);
  return new WitanError(code, message, hint, response.status);
}

function answerOf(row, counselor, decision, { edit, base, reason } = {}) {
  const { domain, entity, digest } = row;
  return { domain, entity, digest, counselor, decision, edit, base, reason, operationId: `queue:${digest.slice(0, 32)}` };
}

function decided(row) {
  const { tag, operationId = "", invariant = null, reason = null } = row.entry;
  return { operationId, outcome: tag, duplicate: false, ledgerSeq: row.seq, invariant, message: reason };
}

export class Client {
  #url; #token;

  constructor(url, token) {
    this.#url = url.replace(/\/+$/, "");
    if (!/^https?:\/\//.test(this.#url)) this.#url = `http://${this.#url}`;
    this.#token = token;
  }

  async #fetch(target, init = {}) {
    const headers = { authorization: `Bearer ${this.#token}`, ...init.headers };
    const response = await fetch(this.#url + target, { ...init, headers }).catch((failure) => {
      init.signal?.throwIfAborted();
      throw new WitanError("unavailable", `no node answers at ${this.#url}: ${failure.cause?.message ?? failure.message}`);
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  async get(path, query, signal) { return (await this.#fetch(targetOf(path, query), { signal })).json(); }

  async post(path, body, signal) {
    const headers = { "content-type": "application/json" };
    return (await this.#fetch(path, { method: "POST", body: JSON.stringify(body), headers, signal })).json();
  }

  // Asks until there is a decision or the time is over. The operation id makes repetition harmless.
  async #decide(path, body, { operationId, timeoutMs = 30_000, signal } = {}) {
    const deadline = Date.now() + timeoutMs;
    const asked = { ...body, operationId: operationId ?? body.operationId ?? `ts:${crypto.randomUUID()}` };
    for (let rest = PAUSE_FIRST_MS; ; rest = Math.min(rest * 2, PAUSE_MOST_MS)) {
      const waitMs = Math.max(0, Math.min(deadline - Date.now(), SERVER_WAIT_MS));
      try {
        const decision = await this.post(path, { ...asked, waitMs }, signal);
        if (decision.outcome !== "waiting" || Date.now() >= deadline) return decision;
      } catch (failure) {
        if (!unreachable(failure) || Date.now() + rest >= deadline) throw failure;
      }
      await pause(Math.max(0, Math.min(rest, deadline - Date.now())), signal);
    }
  }

  begin(domain, entity, init, options) { return this.#decide("/v1/entities", { domain, entity, init }, options); }

  propose(domain, entity, role, action, options) {
    return this.#decide("/v1/propose", { domain, entity, role, action }, options);
  }

  // Of each proposal {domain, entity, role, action, operationId?} its decision; those without one are asked for again.
  async proposeAll(proposals, { timeoutMs = 30_000, signal } = {}) {
    const deadline = Date.now() + timeoutMs;
    const asked = proposals.map((one) => ({ ...one, operationId: one.operationId ?? `ts:${crypto.randomUUID()}` }));
    const decisions = asked.map(({ operationId }) => ({ operationId, outcome: "waiting" }));
    for (let rest = PAUSE_FIRST_MS; ; rest = Math.min(rest * 2, PAUSE_MOST_MS)) {
      const open = [...asked.keys()].filter((i) => decisions[i].outcome === "waiting");
      for (let from = 0; from < open.length; from += BATCH) {
        const some = open.slice(from, from + BATCH);
        const waitMs = Math.max(0, Math.min(deadline - Date.now(), SERVER_WAIT_MS));
        try {
          const { outcomes } = await this.post("/v1/proposals", { proposals: some.map((i) => asked[i]), waitMs }, signal);
          outcomes.forEach(({ decision, waiting, refused }, at) => {
            const { operationId } = asked[some[at]];
            decisions[some[at]] = decision ?? waiting ?? { operationId, outcome: "refused", duplicate: false, message: refused };
          });
        } catch (failure) {
          if (!unreachable(failure) || Date.now() + rest >= deadline) throw failure;
        }
      }
      if (Date.now() >= deadline || decisions.every(({ outcome }) => outcome !== "waiting")) return decisions;
      await pause(Math.max(0, Math.min(rest, deadline - Date.now())), signal);
    }
  }

  async settled(decision, domain, entity, { timeoutMs, signal } = {}) {
    if (decision.outcome !== "escalated") return decision;
    const { partition } = await this.slice(domain, entity);
    const limits = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)].filter(Boolean);
    const until = limits.length > 0 ? AbortSignal.any(limits) : undefined, sequence = decision.ledgerSeq;
    let since = sequence; // what came between the decision and the stream, which is read once that is open
    try {
      for await (const row of this.#follow({ id: "" }, { partition, entity }, until)) {
        if (row?.parted === partition && row.from <= sequence) {
          throw new WitanError("conflict", `a takeover set entry ${sequence} of ${partition} aside, which was escalated`,
            "propose again, with the same operation id");
        }
        if (row?.entry?.escalation === sequence) return decided(row);
        while (row === null && since !== null) {
          const page = this.get("/v1/ledger", { partition, entity, after: since, limit: PAGE }, until);
          const { entries } = await page.catch((failure) => { if (unreachable(failure)) return {}; throw failure; });
          if (entries === undefined) { await pause(PAUSE_FIRST_MS, until); continue; }
          const found = entries.find(({ entry }) => entry?.escalation === sequence);
          if (found) return decided(found);
          since = entries.length === PAGE ? entries.at(-1).seq : null;
        }
      }
    } catch (failure) {
      if (failure?.name !== "TimeoutError" || signal?.aborted) throw failure;
    }
    return decision;
  }

  slice(domain, entity, role) { return this.get("/v1/slice", { domain, entity, role }); }
  async ledger(query) { return (await this.get("/v1/ledger", query)).entries; }

  async queue(domain) { return (await this.get("/v1/queue", { domain })).queue; }
  preview(row, counselor, answer) { return this.post("/v1/queue/preview", answerOf(row, counselor, "commit", answer)); }
  commit(row, counselor, answer) { return this.#decide("/v1/queue/decide", answerOf(row, counselor, "commit", answer), answer); }
  reject(row, counselor, answer = {}) {
    return this.#decide("/v1/queue/decide", answerOf(row, counselor, "reject", { reason: answer.reason }), answer);
  }

  journalPut(id, payload, { type, author, scope } = {}) { return this.post("/v1/journal/put", { id, payload, type, author, scope }); }
  journalGet(id, scope) { return this.get("/v1/journal/get", { id, scope }); }
  async journalList(scope) { return (await this.get("/v1/journal/list", { scope })).entities; }

  watchLedger({ after = "", signal, ...filter } = {}) {
    if (typeof after !== "string") throw new WitanError("invalidInput", "`after` is no position of a watch", '"0": from the first entry on');
    const position = { id: after };
    const rows = this.#rows(position, filter, signal);
    return Object.defineProperty(rows, "position", { get: () => position.id });
  }

  async *#rows(position, filter, signal) {
    for await (const row of this.#follow(position, filter, signal)) if (row !== null) yield row;
  }

  // Entries, {parted, from}, and null each time that a stream was opened. Moves `position.id` along.
  async *#follow(position, filter, signal) {
    for (let rest = PAUSE_FIRST_MS; ; rest = Math.min(rest * 2, PAUSE_MOST_MS)) {
      const stop = new AbortController(); // ends this connection alone
      const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
      let came = false;
      try {
        const headers = position.id ? { "last-event-id": position.id } : {};
        const stream = await this.#fetch(targetOf("/v1/ledger/stream", filter), { headers, signal: either });
        yield null;
        rest = PAUSE_FIRST_MS;
        for await (const { name, data, id } of eventsOf(stream.body)) {
          came = true;
          position.id = id || position.id;
          if (name === "entry") yield JSON.parse(data);
          if (name === "parted") yield (({ partition, from }) => ({ parted: partition, from }))(JSON.parse(data));
        }
      } catch (failure) {
        signal?.throwIfAborted();
        if (!unreachable(failure) && !(failure instanceof TypeError)) throw failure; // TypeError: the stream broke
      } finally {
        stop.abort();
      }
      if (!came) await pause(rest, signal); // else the node gives what was missed in parts
    }
  }

  // Thinks for an agent of the node. A question may come again; its first answer counts.
  async serve(agent, think, signal) {
    let last = {};
    for (let rest = PAUSE_FIRST_MS; ; rest = Math.min(rest * 2, PAUSE_MOST_MS)) {
      try {
        const stream = await this.#fetch(targetOf("/v1/agent/serve", { agent }), { signal });
        rest = PAUSE_FIRST_MS;
        for await (const { name, data } of eventsOf(stream.body)) {
          if (name !== "question") continue;
          const { question, asked } = JSON.parse(data);
          if (question !== last.question) last = { agent, question, answer: await Promise.resolve(asked).then(think).catch(thrown) };
          await this.post("/v1/agent/answer", last, signal);
        }
      } catch (failure) {
        signal?.throwIfAborted();
        if (failure instanceof Thrown) throw failure.cause;
        if (!unreachable(failure) && !(failure instanceof TypeError)) throw failure;
      }
      await pause(rest, signal);
    }
  }

  async *watchSlice(domain, entity, role, signal) {
    let shown = "";
    for await (const _ of this.#follow({ id: "" }, { domain, entity }, signal)) {
      const current = await this.slice(domain, entity, role);
      const text = JSON.stringify([current.state, current.frozen]);
      if (text !== shown) yield current;
      shown = text;
    }
  }
}

export function connect() {
  const { WITAN_URL: url, WITAN_TOKEN: token } = process.env;
  if (!url || !token) throw new WitanError("invalidInput", "WITAN_URL and WITAN_TOKEN are not set");
  return new Client(url, token);
}
