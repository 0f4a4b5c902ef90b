// Runs of agents, from their transcripts. Pure functions over JSON that a node gave.
import { isObject, type Json } from './json.ts';

export interface Budget {
  name: string;
  used: number;
  most: number; // 0: no limit is known
}

const number = (value: Json | undefined): number => (typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0);

// What a run was granted and has used: tokens, seconds, and looks and actions.
export function budgetsOf(transcript: Json[]): Budget[] {
  const entries = transcript.filter(isObject);
  const begin = entries.find((one) => one['entry'] === 'begin');
  const grant = isObject(begin) && isObject(begin['grant']) ? begin['grant'] : {};
  const budget = isObject(grant['budget']) ? grant['budget'] : {};
  const sum = (name: string) => entries.reduce((total, one) => total + (one['entry'] === 'begin' ? 0 : number(one[name])), 0);
  const steps = entries.filter((one) => one['entry'] === 'look' || one['entry'] === 'intended').length;
  return [
    { name: 'steps', used: steps, most: number(budget['steps']) },
    { name: 'tokens', used: sum('tokens'), most: number(budget['tokens']) },
    { name: 'seconds', used: sum('seconds'), most: number(budget['seconds']) },
  ];
}

// One line for an entry of a transcript.
export function lineOf(entry: Json): { kind: string; words: Json } {
  if (!isObject(entry)) return { kind: 'entry', words: entry };
  const kind = typeof entry['entry'] === 'string' ? entry['entry'] : 'entry';
  const told: Record<string, string[]> = {
    begin: ['agent', 'category', 'policy', 'input'],
    look: ['tool', 'arguments', 'verdict'],
    observation: ['ok', 'content'],
    plan: ['actions'],
    intended: ['tool', 'capability', 'arguments', 'verdict'],
  };
  const names = told[kind];
  if (!names) {
    const rest = { ...entry };
    delete rest['entry'];
    return { kind, words: rest };
  }
  return { kind, words: Object.fromEntries(names.filter((name) => name in entry).map((name) => [name, entry[name]!])) };
}

// Versions that did not see each other: of each writer, the counter that each version includes.
export interface Clock {
  id: string;
  vc: Record<string, number>;
}
export type Order = 'before' | 'after' | 'equal' | 'concurrent';

export function orderOf(a: Record<string, number>, b: Record<string, number>): Order {
  let less = false;
  let more = false;
  for (const writer of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [x, y] = [Number(a[writer] ?? 0), Number(b[writer] ?? 0)];
    less ||= x < y;
    more ||= x > y;
  }
  return less && more ? 'concurrent' : less ? 'before' : more ? 'after' : 'equal';
}

// What each of some versions includes beyond what all of them do: a count for each writer.
export function beyond(versions: Record<string, number>[]): Record<string, number>[] {
  const past = (writer: string) => Math.min(...versions.map((one) => Number(one[writer] ?? 0)));
  return versions.map((one) => Object.fromEntries(Object.entries(one).map(([writer, n]) => [writer, Number(n) - past(writer)] as const).filter(([, n]) => n > 0)));
}
