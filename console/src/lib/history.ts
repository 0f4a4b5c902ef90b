// An entity's history: its entries, oldest first, and the state before and after one of them as the fold of the writes
// (docs/ledger-format.md, section 6). Pure functions.
import { applied, type State } from './fields.ts';
import { brief, isObject, type Json } from './json.ts';
import { member, type Row } from './live.ts';

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
    if (isObject(value)) for (const [key, cell] of Object.entries(value)) words.push(`${field} of ${key} = ${cell === null ? 'removed' : brief(cell)}`);
    else if (value !== undefined) words.unshift(`${field} = ${brief(value)}`);
  }
  return words.join('; ');
}

// The entry that decided an escalation; null: none yet.
export function decisionOn(rows: Row[], seq: number): Row | null {
  return rows.find((row) => String(row.entry?.['escalation'] ?? '') === String(seq) && member(row, 'counselor') !== '') ?? null;
}
