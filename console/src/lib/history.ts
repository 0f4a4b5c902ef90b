// An entity's history: its entries, oldest first, and the state before and after one of them as the fold of the writes
// (docs/ledger-format.md, section 6). Pure functions.
import { join, sha256, toHex, type Bytes } from './bytes.ts';
import { applied, type State } from './fields.ts';
import { briefPart, canonical, isObject, type Json } from './json.ts';
import { member, timeOf, type Row } from './live.ts';
import { parseTime } from './time.ts';

export const writesOf = (row: Row): Json => row.entry?.['writes'] ?? null;

// The state before entry `seq`, from the genesis in the first row. Null: the first row is not the entity's first entry.
export function stateBefore(rows: Row[], seq: number): State | null {
  const genesis = rows[0]?.entry?.['genesis'];
  if (!isObject(genesis) || !isObject(genesis['state'])) return null;
  let state: State = genesis['state'];
  for (const row of rows) {
    if (row.seq >= seq) break;
    state = applied(state, writesOf(row));
  }
  return state;
}

const utf8 = new TextEncoder();
const ofTime = (micros: bigint): Bytes => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, micros, true);
  return bytes;
};

// The digest that entry `seq` has of the first state and of all that was written since, in hex. Throws if the first row
// is not the entity's first entry.
export async function chainTo(rows: Row[], seq: number): Promise<string> {
  const genesis = rows[0]?.entry?.['genesis'];
  if (!isObject(genesis)) throw new Error('the first entry of the entity is not here');
  let digest = await sha256(utf8.encode('witan/state/v1\n' + canonical(genesis)) as Bytes);
  for (const row of rows)
    if (row.seq <= seq && ['approved', 'cCommitted'].includes(member(row, 'tag')))
      digest = await sha256(join(digest, ofTime(parseTime(timeOf(row)) ?? 0n), utf8.encode(canonical(writesOf(row)))));
  return toHex(digest);
}

// What of the first state a rule looks at, and no entry before `seq` has written since.
export function beginsWith(rows: Row[], seq: number, footprint: string[]): { [field: string]: Json } {
  const genesis = rows[0]?.entry?.['genesis'];
  const state = isObject(genesis) && isObject(genesis['state']) ? genesis['state'] : {};
  const written = new Set(rows.filter((row) => row.seq < seq).flatMap((row) => Object.keys(isObject(writesOf(row)) ? (writesOf(row) as object) : {})));
  const says = (value: Json) => value !== null && value !== '' && !(isObject(value) && Object.keys(value).length === 0) && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(state).filter(([field, value]) => footprint.includes(field) && !written.has(field) && says(value)));
}

// The latest entries before `seq` that wrote fields of a footprint: what a rule looked at. Newest first.
export function restsOn(rows: Row[], seq: number, footprint: string[]): { row: Row; fields: string[] }[] {
  const wanted = new Set(footprint);
  return rows
    .filter((row) => row.seq < seq)
    .flatMap((row) => {
      const writes = writesOf(row);
      const fields = isObject(writes) ? Object.keys(writes).filter((name) => wanted.has(name)) : [];
      return fields.length > 0 ? [{ row, fields }] : [];
    })
    .reverse();
}

// What an entry wrote of the given fields, in words; what has no key and is short comes first.
export function wroteWords(row: Row, fields: string[]): string {
  const writes = writesOf(row);
  if (!isObject(writes)) return '';
  const words: string[] = [];
  for (const field of fields) {
    const value = writes[field];
    if (isObject(value)) for (const [key, cell] of Object.entries(value)) words.push(`${field} of ${briefPart(key)} = ${cell === null ? 'removed' : briefPart(cell)}`);
    else if (value !== undefined) words.unshift(`${field} = ${briefPart(value)}`);
  }
  return words.join('; ');
}

// The entry that decided an escalation; null: none yet.
export function decisionOn(rows: Row[], seq: number): Row | null {
  return rows.find((row) => String(row.entry?.['escalation'] ?? '') === String(seq) && member(row, 'counselor') !== '') ?? null;
}
