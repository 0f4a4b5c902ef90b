// The pure parts of the console: texts, JSON, fields, streams, routes, histories.
import { describe, expect, it } from 'vitest';
import golden from './golden.json';
import { applied, changesOf, componentType, isChanged, isSigned, parseType, valueOf } from '../src/lib/fields.ts';
import { beginsWith, decisionOn, restsOn, stateBefore } from '../src/lib/history.ts';
import { brief, canonical, parseJson, pretty } from '../src/lib/json.ts';
import { isParted, isRow, keyOf, merged, takenBack, takes, wordsOf, type Row } from '../src/lib/live.ts';
import { linkTo, parseRoute } from '../src/lib/route.ts';
import { EventParser } from '../src/lib/sse.ts';
import { pieces, plain } from '../src/lib/text.ts';
import { parseTime, showAge } from '../src/lib/time.ts';

const rows = golden.rows as unknown as Row[];

describe('texts of strangers', () => {
  it('show what would hide or reorder as code points', () => {
    expect(plain('a\u202Eb\u2066c\u0000d\u200Be\nf\uFEFF')).toBe('a<U+202E>b<U+2066>c<U+0000>d<U+200B>e<U+000A>f<U+FEFF>');
    expect(plain('tag \u{E0041}, lone \uD800, private \uE000')).toBe('tag <U+E0041>, lone <U+D800>, private <U+E000>');
    expect(plain('Grüße, 漢字 עברית 😀 <b>&amp;')).toBe('Grüße, 漢字 עברית 😀 <b>&amp;');
  });
  it('show letters that pass for others, and blanks that are all there is', () => {
    expect(plain('Dav\u0456d')).toBe('Dav<U+0456>d');
    expect(plain('Владимир, Δόξα, David')).toBe('Владимир, Δόξα, David');
    expect(plain(' ')).toBe('<U+0020>');
  });
  it('are cut, and say by how much', () => {
    const { list, left } = pieces('x'.repeat(65536), 300);
    expect(left).toBe(65536 - 300);
    expect(list).toEqual([{ text: 'x'.repeat(300), hidden: false }]);
  });
});

describe('JSON', () => {
  it('keeps integers exact', () => {
    const text = '{"a":9007199254740993,"b":[18446744073709551615,-3],"c":1.5,"d":"9007199254740993"}';
    expect(canonical(parseJson(text))).toBe(text);
  });
  it('sorts names, and has one text for a value', () => {
    expect(canonical({ b: 1, a: [null, true, 'x"'] })).toBe('{"a":[null,true,"x\\""],"b":1}');
    expect(pretty({ b: [], a: { c: 1 } })).toBe('{\n  "a": {\n    "c": 1\n  },\n  "b": []\n}');
    expect(brief({ type: 'X', n: [1, 2] })).toBe('type=X n=[1, 2]');
    expect(brief({ order: 'S1 outcome=NEGATIVE', outcome: 'POSITIVE' })).toBe('order="S1 outcome=NEGATIVE" outcome=POSITIVE');
    expect(brief({ F1: 'ok O9=POSITIVE', 'X 9': { a: ['say "no"', null] } })).toBe('F1="ok O9=POSITIVE" "X 9"={a=["say \\"no\\"", null]}');
  });
});

describe('types of fields', () => {
  it('are read as domains declare them', () => {
    expect(parseType('map<text, enum(OPEN, CLOSED)>')).toEqual({ kind: 'map', of: { kind: 'enum', words: ['OPEN', 'CLOSED'] } });
    expect(parseType('map<text, (counselor, time, plan)>')).toEqual({ kind: 'map', of: { kind: 'tuple', names: ['counselor', 'time', 'plan'] } });
    expect(parseType('map<text, list of (phase, at)>')).toEqual({ kind: 'map', of: { kind: 'list', of: { kind: 'tuple', names: ['phase', 'at'] } } });
    expect(parseType('time or null')).toEqual({ kind: 'nullable', of: { kind: 'time' } });
    expect(parseType('{hash, at}')).toEqual({ kind: 'record', names: ['hash', 'at'] });
    expect(parseType('something else')).toEqual({ kind: 'json' });
  });
  it('make values of what is typed, or say what is wrong', () => {
    expect(valueOf({ kind: 'integer' }, ' 42 ')).toBe(42);
    expect(valueOf({ kind: 'integer' }, '9007199254740993')).toBe(9007199254740993n);
    expect(() => valueOf({ kind: 'integer' }, '4.5')).toThrow('whole number');
    expect(() => valueOf({ kind: 'number' }, '')).toThrow('number');
    expect(() => valueOf({ kind: 'date' }, '2026-13-40')).toThrow('date');
    expect(() => valueOf({ kind: 'time' }, 'soon')).toThrow('time');
    expect(() => valueOf({ kind: 'enum', words: ['A'] }, 'B')).toThrow('choose one: A');
    expect(valueOf({ kind: 'nullable', of: { kind: 'text' } }, '')).toBeNull();
    expect(valueOf({ kind: 'text' }, '<script>')).toBe('<script>');
    expect(componentType('plan', undefined)).toEqual({ kind: 'text' });
    expect(componentType('n', 3)).toEqual({ kind: 'integer' });
  });
  it('begin with the person and the time where counselors alone write', () => {
    const by = (role: string | null) => [{ role, writes: ['relapse.response'] }];
    expect(isSigned('relapse.response', ['counselor', 'time', 'plan'], by(null))).toBe(true);
    expect(isSigned('relapse.response', ['by', 'at'], by(null))).toBe(true);
    expect(isSigned('relapse.response', ['counselor', 'time', 'plan'], by('Clinical'))).toBe(false);
    expect(isSigned('relapse.response', ['plan'], by(null))).toBe(false);
  });
  it('apply as the ledger format says', () => {
    const state = { a: { x: 1, y: 2 }, n: 1 };
    const writes = { a: { x: null, z: 3 }, n: 1, b: { k: 'v' } };
    expect(applied(state, writes)).toEqual({ a: { y: 2, z: 3 }, n: 1, b: { k: 'v' } });
    expect(changesOf(state, writes).filter(isChanged).map((one) => `${one.field}.${one.key}`)).toEqual(['a.x', 'a.z', 'b.k']);
  });
});

describe('the history of an entity', () => {
  it('folds to the state that the queue shows', () => {
    const pending = golden.queue[0]!;
    const state = { ...stateBefore(rows, pending.seq)! };
    // The clock is the time of the last approved entry, and no field.
    const shown: Record<string, unknown> = { ...pending.state };
    delete state['clock'];
    delete shown['clock'];
    expect(state).toEqual(shown);
  });
  it('names what of the first state a rule still looks at', () => {
    const first = beginsWith(rows, 99, ['baselinePositiveOn', 'order.kind']);
    expect(Object.keys(first)).toEqual(['baselinePositiveOn']);
    expect(beginsWith(rows, 99, ['order.kind'])).toEqual({});
  });
  it('names what a verdict rested on, and who decided', () => {
    const found = restsOn(rows, 10, ['order.kind', 'result.on', 'baselinePositiveOn']);
    expect(found.map((one) => one.row.seq)).toEqual([8, 6, 3, 2]);
    expect(decisionOn(rows, 7)?.seq).toBe(8);
    expect(decisionOn(rows, 14)).toBeNull();
  });
});

describe('the ledger as it comes', () => {
  it('has each row once, in order, and a bounded number of them', () => {
    expect(rows.every(isRow)).toBe(true);
    const mixed = merged(merged([], rows.slice(5)), rows.slice(0, 9));
    expect(mixed.map((row) => row.seq)).toEqual(rows.map((row) => row.seq));
    expect(merged(mixed, rows)).toBe(mixed);
    expect(merged(rows.slice(0, 9), [...rows.slice(9), rows[9]!].reverse()).map((row) => row.seq)).toEqual(rows.map((row) => row.seq));
    expect(merged(rows.slice(0, 9), rows.slice(9), 3).map(keyOf)).toEqual(['udt/2/12', 'udt/2/13', 'udt/2/14']);
    expect(merged([], rows, 3).map(keyOf)).toEqual(['udt/2/12', 'udt/2/13', 'udt/2/14']);
  });
  it('gives up what a parting took back, in its partition alone', () => {
    const parted = { partition: 'udt/2', from: 12 };
    expect(isParted(parted)).toBe(true);
    for (const none of [null, 'udt/2', {}, { partition: 'udt/2' }, { partition: 2, from: 12 }, { partition: 'udt/2', from: '12' }, { partition: 'udt/2', from: 1.5 }]) expect(isParted(none)).toBe(false);
    expect(rows.filter((row) => takenBack(parted, row)).map((row) => row.seq)).toEqual([12, 13, 14]);
    expect(rows.filter((row) => takenBack({ ...parted, partition: 'udt/20' }, row))).toEqual([]);
    expect(wordsOf(parted, 3)).toBe('3 entries were taken back at seq 12 of udt/2: a takeover parted its log there.');
    expect(wordsOf(parted, 1)).toContain('1 entry was taken back at seq 12');
  });
  it('is filtered by what an entry says', () => {
    const seqs = (filter: object) => rows.filter((row) => takes(filter, row)).map((row) => row.seq);
    expect(seqs({ tag: 'rejected' })).toEqual([10]);
    expect(seqs({ invariant: 'UDT_RELAPSE_RESPONSE' })).toEqual([7, 14]);
    expect(seqs({ agent: 'udt-billing' })).toEqual([4]);
    expect(seqs({ operation: 'SubmitClaim' })).toEqual([4]);
    expect(seqs({ entity: 'David', domain: 'udt' })).toHaveLength(14);
    expect(seqs({ domain: 'budget' })).toEqual([]);
    expect(seqs({ invariant: 'relapse', agent: '' })).toEqual([7, 14]);
    expect(seqs({ operation: 'submit' })).toEqual([4]);
    expect(seqs({ entity: 'Dav' })).toEqual([]);
  });
});

describe('a stream of events', () => {
  it('is read however it is cut', () => {
    const text = ': hello\n\nevent: entry\r\nid: udt/2/7\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: x\n\ndata: never ended';
    for (const size of [1, 2, 3, 7, text.length]) {
      const parser = new EventParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
      expect(events).toEqual([
        { event: 'entry', data: '{"a":\n1}', id: 'udt/2/7' },
        { event: 'message', data: 'x', id: 'udt/2/7' },
      ]);
    }
  });
  it('ends when an event is too large', () => {
    const parser = new EventParser();
    expect(() => parser.push('data: ' + 'x'.repeat(9 << 20))).toThrow('too large');
  });
});

describe('links', () => {
  it('lead back to the view', () => {
    const link = linkTo('entry', ['udt/2', 10], { q: 'a b&c', none: '' });
    expect(link).toBe('#/entry/udt%2F2/10?q=a+b%26c');
    expect(parseRoute(link)).toEqual({ page: 'entry', parts: ['udt/2', '10'], query: { q: 'a b&c' } });
    expect(parseRoute('')).toEqual({ page: 'inbox', parts: [], query: {} });
    expect(parseRoute('#/x/%zz').parts).toEqual(['%zz']);
  });
});

describe('moments', () => {
  it('are exact to the microsecond', () => {
    expect(parseTime('2026-11-25T08:08:56.641197Z')).toBe(1795594136641197n);
    expect(parseTime('2026-11-25T08:08:56.44689Z')).toBe(1795594136446890n);
    expect(parseTime('2026-11-25T08:08:56Z')).toBe(1795594136000000n);
    expect(parseTime('yesterday')).toBeNull();
    expect(showAge(7200)).toBe('2 h');
  });
});
