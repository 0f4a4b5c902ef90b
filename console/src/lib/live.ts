// How a list of ledger rows takes in what comes: rows in the order of arrival, each once, a bounded number of them.
// Pure functions; the caller keeps the list.
import { brief, isObject, type Json } from './json.ts';

export interface Row {
  partition: string;
  seq: number;
  leafHash: string;
  story: string;
  entry: { [name: string]: Json } | null; // null: its bytes are damaged
}

export const kMostRows = 10_000;

export const keyOf = (row: Row): string => `${row.partition}/${row.seq}`;
export const timeOf = (row: Row): string => String(row.entry?.['time'] ?? '');
export const member = (row: Row, name: string): string => {
  const value = row.entry?.[name];
  return typeof value === 'string' ? value : '';
};
export const whoOf = (row: Row): string => [member(row, 'counselor') || member(row, 'agent') || 'a person', member(row, 'role')].filter(Boolean).join(', ');
export const actionOf = (row: Row): { [name: string]: Json } => {
  const action = row.entry?.['action'];
  return isObject(action) ? action : {};
};

// What an action does, then its arguments; those that are null say nothing.
export function splitAction(action: Json): { type: string; rest: { [name: string]: Json } } {
  const members = isObject(action) ? action : {};
  const rest = Object.fromEntries(Object.entries(members).filter(([name, value]) => name !== 'type' && value !== null));
  return { type: typeof members['type'] === 'string' ? members['type'] : '', rest };
}
export function actionWords(action: Json): string {
  const { type, rest } = splitAction(action);
  return [type, brief(rest)].filter(Boolean).join(' ');
}

export function isRow(value: unknown): value is Row {
  return (
    isObject(value) &&
    typeof value['partition'] === 'string' &&
    typeof value['seq'] === 'number' &&
    (value['entry'] === null || isObject(value['entry']))
  );
}

// A takeover parted the log of a partition: what was read of it from entry `from` on is not in the ledger.
export interface Parted {
  partition: string;
  from: number;
}
export function isParted(value: unknown): value is Parted {
  return isObject(value) && typeof value['partition'] === 'string' && Number.isSafeInteger(value['from']);
}
export const takenBack = (parted: Parted, row: Row): boolean => row.partition === parted.partition && row.seq >= parted.from;
export function wordsOf(parted: Parted, count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'entry was' : 'entries were'} taken back at seq ${parted.from} of ${parted.partition}: a takeover parted its log there.`;
}

// The list with more rows, oldest first, by time and then by place; the oldest make room.
export function merged(list: Row[], more: Row[], most = kMostRows): Row[] {
  if (more.length === 0) return list;
  // The usual case: all of it is newer than the list.
  const last = list.at(-1);
  if (last !== undefined && more.every((row) => compare(timeOf(row), timeOf(last)) > 0)) {
    const all = [...list, ...merged([], more, most)];
    return all.length > most ? all.slice(all.length - most) : all;
  }
  const known = new Map(list.map((row) => [keyOf(row), row]));
  let fresh = false;
  for (const row of more) {
    fresh ||= known.get(keyOf(row))?.leafHash !== row.leafHash;
    known.set(keyOf(row), row);
  }
  if (!fresh) return list;
  const all = [...known.values()];
  all.sort((a, b) => compare(timeOf(a), timeOf(b)) || compare(a.partition, b.partition) || a.seq - b.seq);
  return all.length > most ? all.slice(all.length - most) : all;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export interface Filter {
  domain?: string;
  partition?: string;
  entity?: string;
  tag?: string;
  invariant?: string;
  agent?: string;
  operation?: string;
}

// What the node filters, the page filters too: events of the stream are of the whole ledger. Domain, partition and entity
// are meant exactly, as at the node; of the others a part is enough, in either case.
export function takes(filter: Filter, row: Row): boolean {
  const has = (wanted: string | undefined, value: string) => !wanted || wanted === value;
  const holds = (wanted: string | undefined, value: string) => !wanted || value.toLowerCase().includes(wanted.toLowerCase());
  return (
    has(filter.domain, row.partition.split('/')[0] ?? '') &&
    has(filter.partition, row.partition) &&
    has(filter.entity, member(row, 'entity')) &&
    has(filter.tag, member(row, 'tag')) &&
    holds(filter.invariant, member(row, 'invariant')) &&
    holds(filter.agent, member(row, 'agent')) &&
    (holds(filter.operation, member(row, 'operationId')) || holds(filter.operation, String(actionOf(row)['type'] ?? '')))
  );
}
