// The logic behind the pages: the cluster and its steps, slices of roles, runs of agents.
import { describe, expect, it } from 'vitest';
import type { Schemas } from '../src/api/client.ts';
import type { Json } from '../src/lib/json.ts';
import { inRuns, lagOf, linkState, ownedBy, whenRevoked, whenSeized } from '../src/lib/cluster.ts';
import { lineIn, parseMetrics, quantileOf, rateOf, showNumber, totalOf } from '../src/lib/metrics.ts';
import { beyond, budgetsOf, lineOf, orderOf } from '../src/lib/runs.ts';
import { cutTo, sliceRows } from '../src/lib/slices.ts';

describe('the cluster', () => {
  const peer = { connected: true, cut: false } as Schemas['PeerRow'];
  it('has links that are up, carried, cut or away', () => {
    expect(linkState(peer).word).toBe('connected');
    expect(linkState({ ...peer, via: 'x' }).word).toBe('relayed');
    expect(linkState({ ...peer, connected: false }).word).toBe('away');
    expect(linkState({ ...peer, connected: true, cut: true }).word).toBe('cut');
  });
  it('sums what a device lacks over all spaces', () => {
    const space = (lacks: number) => ({ peers: [{ device: 'a', lacks, vector: {} }] });
    expect(lagOf({ spaces: [space(2), space(3)] } as unknown as Schemas['SyncStatus']).get('a')).toBe(5);
  });
  it('names runs of partitions', () => {
    expect(inRuns(['udt/0', 'udt/2', 'udt/1', 'budget/7', 'budget/9', 'budget/10'])).toBe('udt/0 to udt/2, budget/7, budget/9, budget/10');
    expect(inRuns([])).toBe('');
  });
  it('says what a step leads to', () => {
    const partitions = [{ partition: 'udt/0', owner: 'a', ownerName: 'lab', epoch: 3, entries: 7, ownerConnected: true }] as Schemas['PartitionRow'][];
    expect(ownedBy(partitions, 'a')).toEqual(['udt/0']);
    expect(whenRevoked('lab', ['udt/0'], [])[1]).toContain('No member decides for udt/0');
    expect(whenRevoked('lab', [], [])[1]).toContain('owns no partition');
    expect(whenSeized(partitions[0]!)[0]).toContain('epoch 4');
    expect(whenSeized(partitions[0]!)[2]).toContain('will refuse');
    expect(whenSeized({ ...partitions[0]!, ownerConnected: false })[2]).toContain('not connected');
  });
});

describe('a slice', () => {
  const domain = {
    fields: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    roles: [{ name: 'R', footprint: ['a', 'b'], writes: ['a'] }],
  } as unknown as Schemas['DomainDescription'];
  it('tells what is absent from what has no value', () => {
    expect(sliceRows(domain, { a: 1, clock: 'now' }, 'R')).toEqual([
      { field: 'a', sees: true, value: 1 },
      { field: 'b', sees: true, value: undefined },
      { field: 'c', sees: false, value: undefined },
      { field: 'clock', sees: true, value: 'now' },
    ]);
    expect(sliceRows(domain, { a: 1 }, '').every((row) => row.sees)).toBe(true);
    expect(sliceRows(domain, {}, 'nobody').some((row) => row.sees)).toBe(false);
  });
  it('is cut from a state that was folded here', () => {
    expect(cutTo(domain, { a: 1, c: 2, clock: 'x' }, 'R')).toEqual({ a: 1, clock: 'x' });
    expect(cutTo(domain, { a: 1, c: 2 }, 'nobody')).toEqual({});
  });
});

describe('a run', () => {
  const transcript: Json[] = [
    { entry: 'begin', tokens: 999, grant: { budget: { steps: 20, tokens: 100, seconds: 0 } } },
    { entry: 'look', tool: 'journal.read', tokens: 30, seconds: 2 },
    { entry: 'intended', tool: 'propose', tokens: 5, seconds: 1 },
    null,
    'text',
  ];
  it('has used what its entries say', () => {
    expect(budgetsOf(transcript)).toEqual([
      { name: 'steps', used: 2, most: 20 },
      { name: 'tokens', used: 35, most: 100 },
      { name: 'seconds', used: 3, most: 0 },
    ]);
    expect(budgetsOf([]).every((one) => one.used === 0 && one.most === 0)).toBe(true);
  });
  it('is a line an entry, whatever the entry is', () => {
    expect(lineOf(transcript[1]!)).toEqual({ kind: 'look', words: { tool: 'journal.read' } });
    expect(lineOf({ entry: 'end', status: 'completed' })).toEqual({ kind: 'end', words: { status: 'completed' } });
    expect(lineOf(null).kind).toBe('entry');
  });
});

describe('vector clocks', () => {
  it('are ordered or not', () => {
    expect(orderOf({ x: 1 }, { x: 1 })).toBe('equal');
    expect(orderOf({ x: 1 }, { x: 2, y: 1 })).toBe('before');
    expect(orderOf({ x: 2, y: 1 }, { x: 1 })).toBe('after');
    expect(orderOf({ x: 2 }, { y: 1 })).toBe('concurrent');
    expect(beyond([{ x: 3, y: 1 }, { x: 1, y: 2 }])).toEqual([{ x: 2 }, { y: 1 }]);
  });
});

describe('metrics', () => {
  const page = '# HELP a_total What it is.\n# TYPE a_total counter\na_total 3\n# TYPE up gauge\nup{peer="x\\"} 1"} 1\nup{peer="y"} 0\nnonsense\n# TYPE none gauge\n';
  it('are families with samples', () => {
    const families = parseMetrics(page);
    expect(families.map((one) => one.name)).toEqual(['a_total', 'up']);
    expect(families[0]).toEqual({ name: 'a_total', type: 'counter', help: 'What it is.', samples: [{ labels: '', value: 3 }] });
    expect(totalOf(families[1]!)).toBe(1);
  });
  it('become rates, also over a restart of the node', () => {
    const moments = [{ at: 0, value: 5 }, { at: 1000, value: 9 }, { at: 3000, value: 2 }];
    expect(rateOf(moments)).toEqual([{ at: 1000, value: 4 }, { at: 3000, value: 1 }]);
    expect(rateOf([])).toEqual([]);
  });
  it('become lines within their box', () => {
    expect(lineIn([{ at: 0, value: 0 }, { at: 10, value: 4 }], 100, 42)).toBe('0.0,41.0 100.0,1.0');
    expect(lineIn([{ at: 5, value: 0 }], 100, 42)).toBe('100.0,41.0');
    expect(lineIn([], 100, 42)).toBe('');
  });
  it('are read by people', () => {
    expect(showNumber(1536, 'bytes')).toBe('1.5 KiB');
    expect(showNumber(0.25, 's')).toBe('0.25 s');
    expect(showNumber(1234, '')).toBe('1,234');
  });
});

describe('a histogram', () => {
  const scrape = (...counts: number[]) => parseMetrics(['0.1', '1', '+Inf'].map((to, i) => `x_bucket{le="${to}"} ${counts[i]}`).join('\n'))[0]!;
  it('gives quantiles of what came between two scrapes', () => {
    expect(quantileOf(0.5, undefined, scrape(10, 10, 10))).toBeCloseTo(0.05);
    expect(quantileOf(0.95, scrape(10, 10, 10), scrape(10, 20, 20))).toBeCloseTo(0.1 + 0.9 * 0.95);
    expect(quantileOf(0.95, scrape(0, 0, 0), scrape(1, 1, 100))).toBe(1);
    expect(quantileOf(0.95, scrape(5, 5, 5), scrape(5, 5, 5))).toBeNull();
  });
});
