// The logic behind the inbox, graphs, the market and live traffic.
import { describe, expect, it } from 'vitest';
import type { Schemas } from '../src/api/client.ts';
import { witnessOf, witnessedOnlyBy, whenRevoked, whenSeized } from '../src/lib/cluster.ts';
import { draw, fold, nodeState } from '../src/lib/graph.ts';
import { firstFree, kWindow, mayAnswer, othersClaim, roleFor, wordsOf, type Item } from '../src/lib/inbox.ts';
import type { Json } from '../src/lib/json.ts';
import { actsOn, callWords, contractOf, isConserved, moneyOf } from '../src/lib/market.ts';
import type { State } from '../src/lib/fields.ts';
import { LiveTrace } from '../src/lib/trace.ts';
import escrow from './escrow.json';

describe('the inbox', () => {
  const now = Date.parse('2026-03-23T08:00:00Z');
  const item = (id: string, by?: string, until = '2026-03-23T08:01:00Z', window = 'w') => ({ id, choices: [{}], ...(by ? { claim: { by, until, window } } : {}) }) as unknown as Item;
  it('shows claims of others until they end', () => {
    expect(othersClaim(item('a', 'ann'), 'bob', now)).toBe('ann');
    expect(othersClaim(item('a', 'ann', undefined, kWindow), 'ann', now)).toBe('');
    expect(othersClaim(item('a', 'ann'), 'ann', now)).toContain('ann, in another window');
    expect(othersClaim(item('a', 'ann', '2026-03-23T07:59:59Z'), 'bob', now)).toBe('');
  });
  it('begins with what nobody else is at', () => {
    expect(firstFree([item('a', 'ann'), item('b')], 'bob', now)!.id).toBe('b');
    expect(firstFree([item('a', 'ann')], 'bob', now)!.id).toBe('a');
    expect([wordsOf('proposal').one, wordsOf('of a later node').one]).toEqual(['Decision', 'of a later node']);
    expect(firstFree([], 'bob', now)).toBeUndefined();
  });
  it('leaves alone what somebody has answered already', () => {
    expect(firstFree([{ ...item('a'), answer: { by: 'ann' } } as unknown as Item, item('b')], 'bob', now)!.id).toBe('b');
  });
  it('knows who may answer', () => {
    expect(mayAnswer({ kind: 'proposal', detail: { counselors: ['dr.supervising'] } } as unknown as Item)).toEqual(['dr.supervising']);
    expect(mayAnswer({ kind: 'question', detail: { who: ['ann'] } } as unknown as Item)).toEqual(['ann']);
    expect(mayAnswer({ kind: 'approval', detail: {} } as unknown as Item)).toEqual([]);
  });
  it('knows which role an answer needs', () => {
    expect(roleFor('/v1/queue/decide')).toBe('counselor');
    expect(roleFor('/v1/graphs/answer')).toBe('counselor');
    expect(roleFor('/v1/saga/retry')).toBe('operator');
    expect(roleFor('/v1/inbox/seen')).toBe('counselor');
  });
});

describe('a graph', () => {
  const document = {
    graph: { id: 'g', version: 2 },
    node: [{ id: 'in', kind: 'ingress' }, { id: 'write', kind: 'agent', agent: 'writer' }, { id: 'judge', kind: 'function', function: 'switch' }, { id: 'out', kind: 'egress' }],
    edge: [{ from: 'in', to: 'write', type: 'A' }, { from: 'write', to: 'judge', type: 'B' }, { from: 'judge', to: 'write', type: 'B', guard: { bound: 3 } }, { from: 'judge', to: 'out', type: 'B' }, { from: 'judge', to: 'nowhere', type: 'B' }],
  } as unknown as Json;
  it('is drawn in layers, and an edge that closes a cycle goes back', () => {
    const made = draw(document);
    const x = (id: string) => made.nodes.find((one) => one.id === id)!.x;
    expect([x('in') < x('write'), x('write') < x('judge'), x('judge') < x('out')]).toEqual([true, true, true]);
    expect(made.edges).toHaveLength(4);
    expect(made.edges[2]!.guard).toBe('bound 3');
    expect(made.nodes.every((one) => one.x >= 0 && one.x <= made.width && one.y >= 0 && one.y <= made.height)).toBe(true);
    expect(() => draw({} as Json)).toThrow('no nodes');
  });
  it('draws 512 nodes in little time, and hostile documents', () => {
    const node = Array.from({ length: 512 }, (_, i) => ({ id: `n${i}`, kind: 'function' }));
    const edge = Array.from({ length: 2048 }, (_, i) => ({ from: `n${(i * 7) % 512}`, to: `n${(i * 13) % 512}`, type: 'T' }));
    expect(draw({ graph: {}, node, edge } as unknown as Json).nodes).toHaveLength(512);
    expect(draw({ node: [{ id: 'a' }, { id: 'a' }, { id: 7 }], edge: [{ from: 'a', to: 'a' }, 3] } as unknown as Json).nodes).toHaveLength(3);
  });
  const step = (action: object) => ({ seq: 1, time: '', role: 'Runtime', action }) as unknown as Schemas['StepRow'];
  it('folds the entries of a run to where each message is', () => {
    const steps = [
      step({ type: 'Begin', node: 'in', message: 'm1', key: 'k', digest: 'd' }),
      step({ type: 'Deliver', node: 'in', message: 'm1', span: 's1', attempt: 1 }),
      step({ type: 'Finish', node: 'in', span: 's1', dead: [], sends: [{ edge: 'in>write:A', message: 'm2', node: 'write', key: 'k', digest: 'd2', duplicate: false }] }),
      step({ type: 'Deliver', node: 'write', message: 'm2', span: 's2', attempt: 1 }),
    ];
    expect(nodeState(fold(steps), 'in')).toEqual({ state: 'done', words: '1 done' });
    expect(nodeState(fold(steps), 'write').state).toBe('runs');
    expect(fold(steps).edges.get('in>write:A')).toBe(1);
    const asks = [...steps, step({ type: 'Ask', node: 'write', span: 's2', why: 'counselor' })];
    expect(nodeState(fold(asks), 'write').state).toBe('asks');
    const again = [...steps, step({ type: 'Fail', node: 'write', span: 's2', attempt: 1, why: 'timeout', retryAtMs: 5, dead: [] })];
    expect(nodeState(fold(again), 'write').state).toBe('retries');
    const dead = [...steps, step({ type: 'Fail', node: 'write', span: 's2', attempt: 3, why: 'attempts_exhausted', retryAtMs: null, dead: [{ message: 'm3', node: 'write', key: 'k', reason: 'after_failure' }] })];
    expect(fold(dead).messages.filter((one) => one.state === 'dead').map((one) => one.why)).toEqual(['attempts_exhausted', 'after_failure']);
  });
});

describe('a contract of the market', () => {
  const state = escrow as State;
  it('says where the money is', () => {
    const made = contractOf(state);
    expect([made.buyer, made.seller, made.phase, made.held, made.deposited]).toEqual(['clinic', 'lab', 'open', 300n, 1000n]);
    expect(made.list.map((call) => [call.call, call.state])).toEqual([['C1', 'disputed']]);
    expect(isConserved(made)).toBe(true);
    expect(isConserved(contractOf({ ...state, 'money.seller': 500 }))).toBe(false);
  });
  it('knows settled and ruled calls', () => {
    const of = (more: State) => contractOf({ ...state, ...more }).list[0]!;
    expect(of({ 'call.ruling': { C1: 100 } })).toMatchObject({ state: 'ruled', ruling: 100n });
    expect(of({ 'settle.log': { '1': { call: 'C1', kind: 'release', seller: 100, buyer: 200, at: '' } } })).toMatchObject({ state: 'released', held: 0n, buyer: 200n });
    expect(of({ 'settle.log': { '1': { call: 'C1', kind: 'refund', seller: 0, buyer: 300, at: '' } } }).state).toBe('refunded');
  });
});

describe('a contract that was bought or sold', () => {
  const call = { call: 'C1', side: 'bought', step: 'review', end: '', reason: '', evidence: true } as Schemas['CallRow'];
  it('has its money where the holder says', () => {
    const answer = { phase: 'OPEN', deposited: 400, held: 100, buyer: 200, seller: 40, paidBuyer: 0, paidSeller: 60 };
    expect(moneyOf(answer, 'EUR.cent')).toMatchObject({ held: 100n, buyerFree: 200n, paidOut: 60n });
    expect(isConserved(moneyOf(answer, 'EUR.cent')!)).toBe(true);
    expect(isConserved(moneyOf({ ...answer, seller: 41 }, 'EUR.cent')!)).toBe(false);
    expect(moneyOf({ outcome: 'refused' }, 'EUR.cent')).toBeNull();
  });
  it('offers what may be said of a call, while it may', () => {
    const acts = (more: object, state = 'DELIVERED') => actsOn({ ...call, ...more }, 'lab', state).map((one) => one.act);
    expect(acts({})).toEqual(['accept', 'dispute']);
    expect(acts({ step: 'await' })).toEqual(['reclaim']);
    expect(acts({ side: 'sold', step: 'window' })).toEqual(['claim']);
    expect(acts({ side: 'sold', step: 'run' })).toEqual([]);
    expect(acts({}, 'RELEASED')).toEqual([]);
    expect(callWords({ ...call, end: 'accepted' })).toBe('accepted');
    expect(callWords({ ...call, step: 'await' })).toBe('the seller works');
  });
});

describe('witnesses', () => {
  const one = { partition: 'udt/0', here: true, entries: 8, owner: 'a' } as Schemas['PartitionRow'];
  it('are named, and missed', () => {
    expect(witnessOf(one, String).words).toBe('! unwitnessed');
    expect(witnessOf({ ...one, witnessed: 8, witnesses: ['lab'] }, String).words).toBe('✓ all, by lab');
    expect(witnessOf({ ...one, witnessed: 5, witnesses: ['lab', 'ward'] }, String).words).toBe('5 of 8, by lab, ward');
    expect(witnessOf({ ...one, entries: 0 }, String).words).toBe('');
  });
  it('count before a step', () => {
    expect(whenRevoked('lab', [], witnessedOnlyBy([{ ...one, witnessed: 8, witnesses: ['lab'] }], 'lab')).join(' ')).toContain('the only device that has cosigned udt/0');
    expect(whenSeized({ ...one, witnessed: 10, witnesses: ['lab'] }).join(' ')).toContain('2 entries more than this copy');
  });
});

describe('live traffic', () => {
  it('is a trace of decisions and links', () => {
    const trace = new LiveTrace(['a', 'b'], 1000, 3);
    trace.decided({ time: 2000, owner: 'b', proposer: 'a', here: 'a', name: 'approved', detail: 'x' }, 2010);
    trace.link('b', false, 'link cut', 3000);
    trace.link('b', false, 'link cut', 3500);
    trace.link('b', true, '', 4000);
    const made = trace.snapshot(5000);
    expect(made.end).toBe(4_000_000);
    expect(made.messages.map((one) => [one.from, one.to, one.sent, one.arrived])).toEqual([[0, 1, 1_000_000, 1_000_000], [1, 0, 1_000_000, 1_010_000]]);
    expect(made.faults).toEqual([{ lane: 1, at: 2_000_000, end: 3_000_000, name: 'link cut', detail: 'as this node sees it' }]);
    expect(made.byLane[1]!.map((mark) => mark.name)).toEqual(['approved', 'link cut', 'connected']);
    for (let i = 0; i < 10; ++i) trace.decided({ time: 6000 + i, owner: 'c', proposer: 'a', here: 'a', name: 'approved', detail: '' }, 6000 + i);
    expect(trace.snapshot(7000).marks).toHaveLength(3);
    expect(trace.snapshot(7000).lanes).toEqual(['a', 'b', 'c']);
  });
});
