// Client of a Witan node over fetch. Answers are the JSON of the HTTP API; types.d.ts is generated from its OpenAPI document.
import type {
  CommitPreview, DecisionMade, DecisionWaiting, JournalEntity, JournalWritten, Json, LedgerRow, QueueRow, SliceShown,
} from "./types.js";

export type * from "./types.js";

export type Decision = DecisionMade | DecisionWaiting;
export type Action = { type: string } & Record<string, Json>;
export type Query = Record<string, string | number | boolean | undefined>;
/** After which entry of each partition a watch is; "0": before the first ones. */
export type Position = string;
/** A takeover parted the log of a partition: what was read of it from entry `from` on is not in the ledger, so take it
 *  back. The entries that have these numbers now follow. */
export interface Parted { parted: string; from: number }

/** What the node answered, or why it could not be reached (`code` is "unavailable", `status` 0). */
export class WitanError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number;
}

export interface Until {
  /** Milliseconds; the request stays in the node's outbox after them. Default: 30000. */
  timeoutMs?: number;
  signal?: AbortSignal;
}
export interface Operation extends Until {
  /** A call that is repeated with the same id decides nothing again. Default: a new id. */
  operationId?: string;
}
export interface Proposal {
  domain: string;
  entity: string;
  role: string;
  action: Action;
  operationId?: string;
}
export interface Answer extends Until {
  edit?: Record<string, Json>;
  base?: "candidate" | "current";
  reason?: string;
}
export interface LedgerFilter {
  domain?: string;
  partition?: string;
  entity?: string;
}
/** Each entry once, in the order of its partition, and where one parted. Give the stored `position` as `after` to resume. */
export interface LedgerWatch extends AsyncGenerator<LedgerRow | Parted, void> {
  readonly position: Position;
}

export class Client {
  /** `url` is http://HOST:PORT of the node's `[control] listen`; `token` one of its control.tokens. */
  constructor(url: string, token: string);
  get<T = Json>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  post<T = Json>(path: string, body: object, signal?: AbortSignal): Promise<T>;

  begin(domain: string, entity: string, init?: Record<string, Json>, options?: Operation): Promise<Decision>;
  propose(domain: string, entity: string, role: string, action: Action, options?: Operation): Promise<Decision>;
  /** Of each proposal its decision. They are asked for together, in their order, and become durable together. */
  proposeAll(proposals: Proposal[], options?: Until): Promise<Decision[]>;
  /** The counselor's decision on an escalated proposal; every other decision as it is. Default: without a limit of time. */
  settled(decision: Decision, domain: string, entity: string, options?: Until): Promise<Decision>;
  slice(domain: string, entity: string, role?: string): Promise<SliceShown>;
  ledger(query?: LedgerFilter & { after?: number; limit?: number }): Promise<LedgerRow[]>;

  queue(domain?: string): Promise<QueueRow[]>;
  preview(row: QueueRow, counselor: string, answer?: Answer): Promise<CommitPreview>;
  commit(row: QueueRow, counselor: string, answer?: Answer): Promise<Decision>;
  reject(row: QueueRow, counselor: string, answer?: Answer): Promise<Decision>;

  journalPut(id: string, payload: Json, more?: { type?: string; author?: string; scope?: string }): Promise<JournalWritten>;
  journalGet(id: string, scope?: string): Promise<JournalEntity>;
  journalList(scope?: string): Promise<JournalEntity[]>;

  watchLedger(filter?: LedgerFilter & { after?: Position; signal?: AbortSignal }): LedgerWatch;
  /** The slice, and again each time it has changed. Of a device with ledgers. */
  watchSlice(domain: string, entity: string, role?: string, signal?: AbortSignal): AsyncGenerator<SliceShown, void>;

  /** Thinks for an agent whose file says `served = true`, until `signal`. A question may come again; its first answer counts. */
  serve(agent: string, think: (asked: Question) => Thought | Promise<Thought>, signal?: AbortSignal): Promise<never>;
}

export interface Question {
  agent: string;
  round: number;
  wake: Record<string, Json>;
  entries: { id: string; type: string; payload: Json }[];
  observations: { tool: string; ok: boolean; content?: Json; error?: string }[];
}
export interface Call { tool: string; arguments: Record<string, Json>; targets?: string[] }
export type Thought =
  | { looks: Call[] } | { actions: Call[] } | { emits: { type: string; body: Json }[] } | { answer: string } | { failed: string };

/** Of WITAN_URL and WITAN_TOKEN. */
export function connect(): Client;
