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
  refusal: { one: 'Refused answer', many: 'Refused answers' },
  fold: { one: 'Memory of an agent', many: 'Memories of agents' },
  expired: { one: 'Expired question', many: 'Expired questions' },
};

// A later node may have other kinds.
export const wordsOf = (kind: string): { one: string; many: string } => kKinds[kind as Item['kind']] ?? { one: kind, many: kind };

export function roleFor(path: string): 'counselor' | 'operator' {
  return /^\/v1\/(queue|approval|graphs\/answer|inbox\/(form|seen))/.test(path) ? 'counselor' : 'operator';
}

// This page, among those of one person.
export const kWindow = crypto.randomUUID();

// Claimed from elsewhere: by another person, or by the same one in another window.
export function othersClaim(item: Item, me: string, nowMs: number): string {
  const claim = item.claim;
  if (claim === undefined || claim.window === kWindow || Date.parse(claim.until) <= nowMs) return '';
  return claim.by === me ? `${claim.by}, in another window,` : claim.by;
}

// Who may answer it. Empty: anybody with the role.
export function mayAnswer(item: Item): string[] {
  if (item.kind === 'proposal') return (item.detail as Schemas['QueueRow']).counselors;
  return (item.detail as { who?: string[] } | null)?.who ?? [];
}

// The first that nobody else is at, and that nobody has answered.
export function firstFree(items: Item[], me: string, nowMs: number): Item | undefined {
  return items.find((item) => item.choices.length > 0 && !item.answer && othersClaim(item, me, nowMs) === '') ?? items[0];
}
