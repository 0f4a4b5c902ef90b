// A trace of the simulator (`witan sim replay --trace FILE`, the event format of ui.perfetto.dev), read for a space-time
// diagram. The file is a stranger's: everything in it is checked and bounded. Pure functions; times in microseconds.

export interface Mark {
  at: number;
  lane: number;
  cat: string;
  name: string;
  detail: string;
}
export interface Message {
  from: number;
  to: number; // -1: nobody knows
  sent: number;
  arrived: number | null; // null: lost
  what: string;
}
export interface Fault {
  lane: number;
  at: number;
  end: number;
  name: string;
  detail: string;
}
export interface Trace {
  title: string;
  lanes: string[]; // the cluster first, then devices by name
  marks: Mark[]; // by time
  byLane: Mark[][];
  messages: Message[]; // by the time of sending
  faults: Fault[];
  violations: Mark[];
  end: number;
  slowest: number; // the longest way of a message
  began: number | null; // ms since 1970 of time 0; null: simulated
}

export const kMostBytes = 128 << 20;
const kMostEvents = 2_000_000;
const kMostLanes = 64;
const kMostText = 2000;
const kProgress = new Set(['settling begins', 'settled']); // of the checkers, and no violation

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, kMostText) : '');
const time = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 1e16 ? value : NaN);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

// Errors name the event that is wrong.
export function readTrace(json: string): Trace {
  let file: unknown;
  try {
    file = JSON.parse(json);
  } catch (error) {
    throw new Error(`this is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
  const events = isObject(file) ? file['traceEvents'] : undefined;
  if (!Array.isArray(events)) throw new Error('this is no trace: it has no list traceEvents. Make one with: witan sim replay SCENARIO --seed N --trace FILE');
  if (events.length > kMostEvents) throw new Error(`the trace has ${events.length} events, more than ${kMostEvents}`);

  const names = new Map<number, string>();
  let title = '';
  for (const [i, event] of events.entries()) {
    if (!isObject(event)) throw new Error(`traceEvents[${i}] is no object`);
    const args = isObject(event['args']) ? event['args'] : {};
    if (event['ph'] !== 'M') continue;
    if (event['name'] === 'process_name') title = text(args['name']);
    if (event['name'] === 'thread_name' && typeof event['tid'] === 'number') names.set(event['tid'], text(args['name']).replace(/ faults$/, ''));
  }
  const lanes = [...new Set(names.values())].sort((a, b) => Number(b === 'cluster') - Number(a === 'cluster') || a.localeCompare(b, 'en', { numeric: true }));
  if (lanes.length === 0) throw new Error('the trace names no device');
  if (lanes.length > kMostLanes) throw new Error(`the trace has ${lanes.length} devices, more than ${kMostLanes}`);
  const laneOf = new Map([...names].map(([tid, name]) => [tid, lanes.indexOf(name)]));

  const trace: Trace = { title, lanes, marks: [], byLane: lanes.map(() => []), messages: [], faults: [], violations: [], end: 0, slowest: 0, began: null };
  const open = new Map<unknown, Message>();
  const sending = new Map<number, string>();
  for (const [i, event] of (events as Record<string, unknown>[]).entries()) {
    const phase = event['ph'];
    if (phase === 'M') continue;
    const lane = laneOf.get(event['tid'] as number);
    const at = time(event['ts']);
    if (lane === undefined || Number.isNaN(at)) throw new Error(`traceEvents[${i}] has no known device, or no time`);
    const args = isObject(event['args']) ? event['args'] : {};
    const [name, cat, detail] = [text(event['name']), text(event['cat']), text(args['detail'])];
    const duration = time(event['dur']);
    trace.end = Math.max(trace.end, at);
    if (phase === 'X' && cat === 'net') {
      if (name === 'sends') sending.set(lane, detail);
    } else if (phase === 's') {
      const what = sending.get(lane) ?? '';
      const to = /^to (\S+?):/.exec(what)?.[1] ?? '';
      const message: Message = { from: lane, to: lanes.indexOf(to), sent: at, arrived: null, what };
      trace.messages.push(message);
      open.set(event['id'], message);
    } else if (phase === 'f') {
      const message = open.get(event['id']);
      if (!message) continue; // it was duplicated on the way
      message.to = lane;
      message.arrived = at;
      trace.slowest = Math.max(trace.slowest, at - message.sent);
      open.delete(event['id']);
    } else if (phase === 'X') {
      const end = at + (Number.isNaN(duration) ? 0 : duration);
      trace.faults.push({ lane, at, end, name, detail });
      trace.marks.push({ at, lane, cat, name, detail });
    } else if (phase === 'i') {
      const mark = { at, lane, cat, name, detail };
      trace.marks.push(mark);
      if (cat === 'check' && !kProgress.has(name)) trace.violations.push(mark);
    }
  }
  trace.marks.sort((a, b) => a.at - b.at);
  trace.messages.sort((a, b) => a.sent - b.sent);
  for (const mark of trace.marks) trace.byLane[mark.lane]!.push(mark);
  return trace;
}

// What a node tells while one watches, in the form of a trace: decisions on the lane of the device that decides, their way
// here, links that are down. A proposal's way to its owner is drawn as one moment: nobody tells when it left. Bounded.
export class LiveTrace {
  private readonly trace: Trace;
  private readonly open = new Map<string, Fault>();
  private readonly most: number;

  constructor(names: string[], began: number, most = 5000) {
    this.most = most;
    const lanes = names.slice(0, kMostLanes);
    this.trace = { title: '', lanes, marks: [], byLane: lanes.map(() => []), messages: [], faults: [], violations: [], end: 0, slowest: 0, began };
  }
  private micros(ms: number): number {
    const at = Math.max(0, (ms - this.trace.began!) * 1000);
    this.trace.end = Math.max(this.trace.end, at);
    return at;
  }
  private lane(name: string): number {
    let found = this.trace.lanes.indexOf(name);
    if (found < 0 && this.trace.lanes.length < kMostLanes) {
      found = this.trace.lanes.push(name) - 1;
      this.trace.byLane.push([]);
    }
    return Math.max(0, found);
  }
  private mark(mark: Mark): void {
    const i = lowerBound(this.trace.marks, mark.at + 0.5, (one) => one.at);
    this.trace.marks.splice(i, 0, mark);
    if (this.trace.marks.length > this.most) this.trace.marks.splice(0, this.trace.marks.length - this.most);
  }
  private send(from: number, to: number, sent: number, arrived: number, what: string): void {
    if (from === to) return;
    const i = lowerBound(this.trace.messages, sent + 0.5, (one) => one.sent);
    this.trace.messages.splice(i, 0, { from, to, sent, arrived, what });
    if (this.trace.messages.length > this.most) this.trace.messages.splice(0, this.trace.messages.length - this.most);
    this.trace.slowest = Math.max(this.trace.slowest, arrived - sent);
  }

  decided(entry: { time: number; owner: string; proposer: string; here: string; name: string; detail: string }, cameMs: number): void {
    const at = this.micros(entry.time);
    const owner = this.lane(entry.owner);
    this.mark({ at, lane: owner, cat: entry.name === 'rejected' || entry.name === 'escalated' ? 'fault' : 'ledger', name: entry.name, detail: entry.detail });
    this.send(this.lane(entry.proposer), owner, at, at, `proposes: ${entry.detail}`);
    this.send(owner, this.lane(entry.here), at, Math.max(at, this.micros(cameMs)), `tells: ${entry.detail}`);
  }
  link(peer: string, up: boolean, why: string, nowMs: number): void {
    const known = this.open.get(peer);
    const at = this.micros(nowMs);
    if (up && known) {
      known.end = at;
      this.open.delete(peer);
      this.mark({ at, lane: known.lane, cat: 'work', name: 'connected', detail: '' });
    } else if (!up && !known) {
      const fault = { lane: this.lane(peer), at, end: at, name: why, detail: 'as this node sees it' };
      this.open.set(peer, fault);
      this.trace.faults.push(fault);
      if (this.trace.faults.length > 500) this.trace.faults.shift();
      this.mark({ at, lane: fault.lane, cat: 'fault', name: why, detail: '' });
    } else if (known) known.end = at;
  }
  snapshot(nowMs: number): Trace {
    this.micros(nowMs);
    for (const fault of this.open.values()) fault.end = this.trace.end;
    const byLane: Mark[][] = this.trace.lanes.map(() => []);
    for (const mark of this.trace.marks) byLane[mark.lane]!.push(mark);
    return { ...this.trace, lanes: [...this.trace.lanes], byLane };
  }
}

// The index of the first element whose key is not below `wanted`.
export function lowerBound<T>(list: T[], wanted: number, key: (item: T) => number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key(list[middle]!) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function within(trace: Trace, from: number, to: number, most: number): { marks: Mark[]; messages: Message[]; faults: Fault[]; left: number } {
  const marks = trace.marks.slice(lowerBound(trace.marks, from, (one) => one.at), lowerBound(trace.marks, to, (one) => one.at));
  const messages = trace.messages
    .slice(lowerBound(trace.messages, from - trace.slowest, (one) => one.sent), lowerBound(trace.messages, to, (one) => one.sent))
    .filter((one) => (one.arrived ?? one.sent) >= from);
  const faults = trace.faults.filter((one) => one.at < to && one.end >= from);
  const left = Math.max(0, marks.length - most) + Math.max(0, messages.length - most);
  return { marks: marks.slice(0, most), messages: messages.slice(0, most), faults: faults.slice(0, most), left };
}

// The time of the event after (or before) a moment; the moment itself if there is none.
export function stepFrom(trace: Trace, at: number, forward: boolean): number {
  const i = lowerBound(trace.marks, forward ? at + 0.5 : at, (one) => one.at);
  return (forward ? trace.marks[i]?.at : trace.marks[i - 1]?.at) ?? at;
}
