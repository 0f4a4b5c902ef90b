// The types of fields as a domain declares them, for forms; and what an edit makes of a state. Pure functions.
//
//   text | integer | number | bool | date | time | enum(A, B) | (a, b) | {a, b} | list of T | map<K, T> | T or null
import { canonical, isObject, parseJson, type Json } from './json.ts';

export type FieldType =
  | { kind: 'text' | 'integer' | 'number' | 'bool' | 'date' | 'time' | 'json' }
  | { kind: 'enum'; words: string[] }
  | { kind: 'tuple' | 'record'; names: string[] }
  | { kind: 'list'; of: FieldType }
  | { kind: 'map'; of: FieldType }
  | { kind: 'nullable'; of: FieldType };

const simple = new Set(['text', 'integer', 'number', 'bool', 'date', 'time']);

export function parseType(text: string): FieldType {
  const type = text.trim();
  if (simple.has(type)) return { kind: type as 'text' };
  let inner = /^map<[^,<>]+, (.+)>$/.exec(type);
  if (inner) return { kind: 'map', of: parseType(inner[1]!) };
  if (type.endsWith(' or null')) return { kind: 'nullable', of: parseType(type.slice(0, -8)) };
  inner = /^list of (.+)$/.exec(type);
  if (inner) return { kind: 'list', of: parseType(inner[1]!) };
  const names = (list: string) => list.split(',').map((name) => name.trim());
  inner = /^enum\((.+)\)$/.exec(type);
  if (inner) return { kind: 'enum', words: names(inner[1]!) };
  inner = /^\((.+)\)$/.exec(type);
  if (inner) return { kind: 'tuple', names: names(inner[1]!) };
  inner = /^\{(.+)\}$/.exec(type);
  if (inner) return { kind: 'record', names: names(inner[1]!) };
  return { kind: 'json' };
}

// The type of a component, which a declaration only names: as another value has it, else by its name.
export function componentType(name: string, sample: Json | undefined): FieldType {
  if (typeof sample === 'boolean') return { kind: 'bool' };
  if (typeof sample === 'bigint' || Number.isInteger(sample)) return { kind: 'integer' };
  if (typeof sample === 'number') return { kind: 'number' };
  if (name === 'time' || name === 'at' || name === 'expires') return { kind: 'time' };
  if (typeof sample === 'object' && sample !== null) return { kind: 'json' };
  return { kind: 'text' };
}

// Whether the values of a field begin with who decided and when: what counselors alone write does.
export function isSigned(field: string, names: string[], processes: { role: string | null; writes: string[] }[]): boolean {
  const writers = processes.filter((one) => one.writes.includes(field));
  return /^(counselor|by)$/.test(names[0] ?? '') && /^(time|at)$/.test(names[1] ?? '') && writers.length > 0 && writers.every((one) => one.role === null);
}

// The value of what a person typed. Throws with what is wrong, in words.
export function valueOf(type: FieldType, typed: string): Json {
  switch (type.kind) {
    case 'integer':
      if (!/^-?\d{1,19}$/.test(typed.trim())) throw new Error('give a whole number');
      return parseJson(typed.trim().replace(/^(-?)0+(?=\d)/, '$1'));
    case 'number': {
      const number = Number(typed);
      if (typed.trim() === '' || !Number.isFinite(number)) throw new Error('give a number');
      return number;
    }
    case 'bool':
      return typed === 'true';
    case 'date':
      if (!/^\d{4}-\d\d-\d\d$/.test(typed) || Number.isNaN(Date.parse(typed))) throw new Error('give a date: YYYY-MM-DD');
      return typed;
    case 'time': {
      const ms = Date.parse(typed);
      if (Number.isNaN(ms)) throw new Error('give a time: YYYY-MM-DDThh:mm:ssZ');
      return /Z$/.test(typed) ? typed : new Date(ms).toISOString();
    }
    case 'enum':
      if (!type.words.includes(typed)) throw new Error('choose one: ' + type.words.join(', '));
      return typed;
    case 'nullable':
      return typed === '' ? null : valueOf(type.of, typed);
    case 'text':
      return typed;
    default:
      try {
        return parseJson(typed);
      } catch {
        throw new Error('give JSON');
      }
  }
}

export type State = { [field: string]: Json };

// What writes make of a state: an object sets the named keys of a map (null removes one), anything else replaces.
export function applied(state: State, writes: Json): State {
  if (!isObject(writes)) return state;
  const next: State = { ...state };
  for (const [field, value] of Object.entries(writes)) {
    if (!isObject(value)) {
      next[field] = value;
      continue;
    }
    const before = next[field];
    const row: State = { ...(isObject(before) ? before : {}) };
    for (const [key, cell] of Object.entries(value)) {
      if (cell === null) delete row[key];
      else row[key] = cell;
    }
    if (Object.keys(row).length > 0) next[field] = row;
    else delete next[field];
  }
  return next;
}

export interface Change {
  field: string;
  key: string; // of a map; "": the whole field
  before: Json | undefined;
  after: Json | undefined;
}

const equal = (a: Json | undefined, b: Json | undefined) =>
  a === undefined || b === undefined ? a === b : canonical(a) === canonical(b);

// What writes change in a state; cells that keep their value too, because they were written.
export function changesOf(state: State, writes: Json): Change[] {
  if (!isObject(writes)) return [];
  const next = applied(state, writes);
  const list: Change[] = [];
  for (const [field, value] of Object.entries(writes)) {
    if (!isObject(value)) {
      list.push({ field, key: '', before: state[field], after: next[field] });
      continue;
    }
    const before = state[field];
    const after = next[field];
    for (const key of Object.keys(value))
      list.push({
        field,
        key,
        before: isObject(before) ? before[key] : undefined,
        after: isObject(after) ? after[key] : undefined,
      });
  }
  return list;
}

export const isChanged = (change: Change): boolean => !equal(change.before, change.after);
