// What a role sees of an entity: its slice beside all fields of the domain. Pure functions.
import type { Schemas } from '../api/client.ts';
import type { State } from './fields.ts';
import type { Json } from './json.ts';

export interface SliceRow {
  field: string;
  sees: boolean; // false: the field is not in the role's slice at all
  value: Json | undefined; // undefined: it has none
}

// `role` "": all fields, as the ledger has them.
export function sliceRows(domain: Schemas['DomainDescription'], state: State, role: string): SliceRow[] {
  const footprint = new Set(domain.roles.find((one) => one.name === role)?.footprint ?? []);
  const rows = domain.fields.map((field) => ({
    field: field.name,
    sees: role === '' || footprint.has(field.name) || field.name in state,
    value: state[field.name],
  }));
  const known = new Set(domain.fields.map((field) => field.name));
  for (const name of Object.keys(state)) if (!known.has(name)) rows.push({ field: name, sees: true, value: state[name] });
  return rows;
}

// Of a state that was folded here: only what the role's slice would have. The clock is everyone's.
export function cutTo(domain: Schemas['DomainDescription'], state: State, role: string): State {
  if (role === '') return state;
  const footprint = new Set(domain.roles.find((one) => one.name === role)?.footprint ?? []);
  return Object.fromEntries(Object.entries(state).filter(([name]) => footprint.has(name) || name === 'clock'));
}
