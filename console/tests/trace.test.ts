// Traces of the simulator: what is read of one, and what a stranger's file may not do.
import { describe, expect, it } from 'vitest';
import { lowerBound, readTrace, stepFrom, within } from '../src/lib/trace.ts';

const named = (tid: number, name: string) => ({ name: 'thread_name', ph: 'M', pid: 1, tid, args: { name } });
const events: unknown[] = [
  { name: 'process_name', ph: 'M', pid: 1, tid: 1, args: { name: 'canary, seed 3' } },
  named(16, 'device-0'),
  named(32, 'device-1'),
  named(17, 'device-0 faults'),
  named(1, 'cluster'),
  { name: 'propose', cat: 'work', ph: 'i', ts: 5, pid: 1, tid: 32, args: { detail: 'op-1' } },
  { name: 'sends', cat: 'net', ph: 'X', ts: 10, dur: 1, pid: 1, tid: 16, args: { detail: 'to device-1: hello' } },
  { name: 'frames', cat: 'net', ph: 's', ts: 10, pid: 1, tid: 16, id: 1 },
  { name: 'sends', cat: 'net', ph: 'X', ts: 12, dur: 1, pid: 1, tid: 32, args: { detail: 'to device-0: lost' } },
  { name: 'frames', cat: 'net', ph: 's', ts: 12, pid: 1, tid: 32, id: 2 },
  { name: 'arrives', cat: 'net', ph: 'X', ts: 40, dur: 1, pid: 1, tid: 32 },
  { name: 'frames', cat: 'net', ph: 'f', ts: 40, pid: 1, tid: 32, id: 1 },
  { name: 'frames', cat: 'net', ph: 'f', ts: 41, pid: 1, tid: 32, id: 1 },
  { name: 'isolate', cat: 'fault', ph: 'X', ts: 20, dur: 100, pid: 1, tid: 17, args: { detail: 'device-0 | everybody else' } },
  { name: 'settled', cat: 'check', ph: 'i', ts: 60, pid: 1, tid: 1 },
  { name: 'fences', cat: 'check', ph: 'i', ts: 70, pid: 1, tid: 1, args: { detail: 'device-1 goes on' } },
];
const made = (list: unknown[] = events) => readTrace(JSON.stringify({ traceEvents: list }));

describe('a trace', () => {
  const trace = made();
  it('has lanes, messages, faults and violations', () => {
    expect(trace.title).toBe('canary, seed 3');
    expect(trace.lanes).toEqual(['cluster', 'device-0', 'device-1']);
    expect(trace.messages).toEqual([
      { from: 1, to: 2, sent: 10, arrived: 40, what: 'to device-1: hello' },
      { from: 2, to: 1, sent: 12, arrived: null, what: 'to device-0: lost' },
    ]);
    expect(trace.faults).toEqual([{ lane: 1, at: 20, end: 120, name: 'isolate', detail: 'device-0 | everybody else' }]);
    expect(trace.violations.map((one) => one.name)).toEqual(['fences']);
    expect(trace.byLane.map((list) => list.length)).toEqual([2, 1, 1]);
    expect(trace.end).toBe(70);
  });
  it('is seen through windows, with what reaches into them', () => {
    const seen = within(trace, 30, 50, 100);
    expect(seen.messages.map((one) => one.what)).toEqual(['to device-1: hello']);
    expect(seen.faults).toHaveLength(1);
    expect(seen.marks).toHaveLength(0);
    expect(within(trace, 0, 100, 1).left).toBe(4);
    expect(within(trace, 121, 200, 9)).toEqual({ marks: [], messages: [], faults: [], left: 0 });
  });
  it('is walked event by event', () => {
    expect([0, 5, 20, 60, 70].map((at) => stepFrom(trace, at, true))).toEqual([5, 20, 60, 70, 70]);
    expect([70, 5, 0].map((at) => stepFrom(trace, at, false))).toEqual([60, 5, 0]);
    expect(lowerBound([1, 3, 3, 5], 3, (n) => n)).toBe(1);
  });
});

describe('another file', () => {
  it('is refused with its place', () => {
    expect(() => readTrace('{')).toThrow('no JSON');
    expect(() => readTrace('[]')).toThrow('no trace');
    expect(() => made([])).toThrow('names no device');
    expect(() => made([named(1, 'a'), 7])).toThrow('traceEvents[1] is no object');
    expect(() => made([named(1, 'a'), { ph: 'i', tid: 9, ts: 1 }])).toThrow('traceEvents[1]');
    for (const ts of [-1, 1e300, 'x', null, undefined]) expect(() => made([named(1, 'a'), { ph: 'i', tid: 1, ts }])).toThrow('traceEvents[1]');
    expect(() => made(Array.from({ length: 65 }, (_, i) => named(i, `d${i}`)))).toThrow('65 devices');
  });
  it('has its texts cut and its odd members passed over', () => {
    const trace = made([named(1, 'a'), { ph: 'i', tid: 1, ts: 1, name: 'x'.repeat(9000), cat: 5, args: 'no' }, { ph: 'f', tid: 1, ts: 2, id: {} }, { ph: '?', tid: 1, ts: 3 }]);
    expect(trace.marks).toHaveLength(1);
    expect(trace.marks[0]!.name).toHaveLength(2000);
    expect(trace.marks[0]!.cat).toBe('');
  });
});
