// What waits for a person, in words; and which role an answer needs. Pure functions.
import type { Schemas } from '../api/client.ts';

export type Item = Schemas['InboxItem'];
export type Choice = Schemas['InboxChoice'];

export const kKinds: Record<Item['kind'], { one: string; many: string }> = {
  proposal: { one: 'Decision', many: 'Decisions' },
  question: { one: 'Question of a graph', many: 'Questions of graphs' },
  approval: { one: 'Effect of an agent', many: 'Effects of agents' },
  conflict: { one: 'Versions that differ', many: 'Versions that differ' },
  operation: { one: 'Stopped operation', many: 'Stopped operations' },
  incident: { one: 'Incident', many: 'Incidents' },
  form: { one: 'Question of a tool', many: 'Questions of tools' },
};

// A later node may have other kinds.
export const wordsOf = (kind: string): { one: string; many: string } => kKinds[kind as Item['kind']] ?? { one: kind, many: kind };

export function roleFor(path: string): 'counselor' | 'operator' {
  return /^\/v1\/(queue|approval|graphs\/answer|inbox\/form)/.test(path) ? 'counselor' : 'operator';
}

// Claimed by another person.
export function othersClaim(item: Item, me: string, nowMs: number): string {
  const claim = item.claim;
  return claim !== undefined && claim.by !== me && Date.parse(claim.until) > nowMs ? claim.by : '';
}

// The first that nobody else is at.
export function firstFree(items: Item[], me: string, nowMs: number): Item | undefined {
  return items.find((item) => item.choices.length > 0 && othersClaim(item, me, nowMs) === '') ?? items[0];
}
