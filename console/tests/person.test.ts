// A person's key and what it signs, against a file, an answer and entries that `witan` made; each check with a twin.
import { describe, expect, it } from 'vitest';
import golden from './person.json';
import type { Schemas } from '../src/api/client.ts';
import { fromBase64, sha256, toBase64, toHex } from '../src/lib/bytes.ts';
import { decodeEntry } from '../src/lib/entry.ts';
import type { Json } from '../src/lib/json.ts';
import { answerText, decisionText, differsFrom, openPersonKey, signAnswer, signGraphAnswer, type Answer } from '../src/lib/person.ts';
import { verify } from '../src/lib/proof.ts';

const { row, proof, invariants } = golden;
const signer = { ...golden.signer, members: [] };
const entry = row.entry as unknown as { [name: string]: Json };
const queued = golden.queued as unknown as Schemas['QueueRow'];
const answer: Answer = {
  cluster: signer.cluster, domain: 'udt', entity: 'David', counselor: 'dr.supervising', shown: queued.digest, kind: 'commit',
  decision: decisionText('candidate', row.entry.decision.edit as unknown as Json), reason: row.entry.reason,
};

describe('the file of a key', () => {
  it('opens by its passphrase, and signs as witan does', async () => {
    const key = await openPersonKey(golden.pem, golden.passphrase);
    expect(key.publicKey).toBe(signer.persons[0]!.keys[0]);
    expect(key.key.extractable).toBe(false);
    expect(await signAnswer(key, answer)).toBe(row.entry.signature);
    for (const other of [{ reason: 'seen' }, { kind: 'reject' }, { entity: 'Eve' }, { shown: '00'.repeat(32) }, { decision: answer.decision.replace('O2', 'O3') }])
      expect(await signAnswer(key, { ...answer, ...other } as Answer)).not.toBe(row.entry.signature);
  });
  it('stays shut for another passphrase, and is refused if it is something else', async () => {
    await expect(openPersonKey(golden.pem, 'wrong horse battery')).rejects.toThrow('passphrase does not open');
    const lines = golden.pem.split('\n');
    const der = fromBase64(lines.slice(1, -2).join(''));
    const wrapped = (bytes: Uint8Array) => `${lines[0]}\n${toBase64(bytes)}\n${lines.at(-2)}\n`;
    expect((await openPersonKey(wrapped(der), golden.passphrase)).publicKey).toHaveLength(64);
    for (const bad of ['', 'x'.repeat(10_000), golden.pem.replace('ENCRYPTED ', ''), wrapped(der.slice(0, -1)), wrapped(der.with(4, 0x31))])
      await expect(openPersonKey(bad, golden.passphrase)).rejects.toThrow('no key of a person');
  });
});

// The same text as `GraphPersons.TheTextThatIsSigned` of the program has.
describe('an answer to a question of a graph', () => {
  const body = { k: 'tea' };
  const request = { graph: 'gate', run: 'cd'.repeat(32), node: 'doctor', span: 'ef'.repeat(32), digest: '597527fa17140c17c5d5c275e3b4633470af3326d7217470f80f7a3407e3cbc5', by: 'dr', approve: true };
  it('is signed as a whole, and only if the digest is of what is shown', async () => {
    const key = await openPersonKey(golden.pem, golden.passphrase);
    const decision = '{"approve":true,"by":"dr","digest":"' + 'ab'.repeat(32) + '","node":"doctor","run":"' + 'cd'.repeat(32) + '","span":"' + 'ef'.repeat(32) + '","type":"Answer"}';
    const text = await answerText({ cluster: 'test', domain: 'graph', entity: 'gate', counselor: 'dr', kind: 'answer', shown: 'ab'.repeat(32), decision, reason: '' });
    expect(toHex(await sha256(text))).toBe('2f02ca6a8bbaacf0c6bc878d745e4e81e7fb181f3245bcaf1dcb3fa523946a0a');
    const one = await signGraphAnswer(key, 'test', request, body);
    expect(one).toHaveLength(192);
    expect(await signGraphAnswer(key, 'test', { ...request, approve: false }, body)).not.toBe(one);
    await expect(signGraphAnswer(key, 'test', request, { k: 'coffee' })).rejects.toThrow('nothing was signed');
  });
});

describe('what is signed', () => {
  it('is of exactly what is shown', async () => {
    expect(await differsFrom(queued, golden.pending, invariants)).toBe('');
    const twins: [Partial<Schemas['QueueRow']>, string][] = [
      [{ digest: '00'.repeat(32) }, 'digest'], [{ seq: queued.seq + 1 }, 'seq'], [{ entity: 'Eve' }, 'entity'], [{ agent: 'x' }, 'agent'], [{ message: 'all is well' }, 'message'],
      [{ action: { type: 'RecordResult', order: 'O2', outcome: 'NEGATIVE', on: '2026-11-26' } }, 'action'], [{ findings: [] }, 'verdict of UDT_RELAPSE_RESPONSE'],
    ];
    for (const [twin, what] of twins) expect(await differsFrom({ ...queued, ...twin }, golden.pending, invariants)).toBe(what);
    const bytes = fromBase64(golden.pending);
    bytes[bytes.length - 1]! ^= 1;
    expect(await differsFrom(queued, toBase64(bytes), invariants)).toBe('digest');
  });
});

describe('the entry of an answer', () => {
  it('bears the signature of the person', async () => {
    expect(toHex(decodeEntry(fromBase64(proof.bytes)).signature)).toBe(row.entry.signature);
    const good = await verify(proof, entry, row.leafHash, signer, null);
    expect(good.steps.filter((step) => step.state !== 'good')).toEqual([]);
    expect(good.steps.map((step) => step.name)).toContain('The counselor signed this answer');
    const bad = async (other: object) => (await verify(proof, entry, row.leafHash, { ...signer, ...other }, null)).steps.filter((step) => step.state === 'bad').map((step) => step.what);
    expect(await bad({ persons: [] })).toEqual(["the key is not one of dr.supervising's in the roster"]);
    expect(await bad({ persons: [{ ...signer.persons[0]!, name: 'nurse' }] })).toHaveLength(1);
    expect(await bad({ cluster: 'other' })).toContain('the signature does not fit');
  });
});
