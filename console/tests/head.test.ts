// Heads of a ledger that two devices signed, as `witan` made them; each check with a twin.
import { describe, expect, it } from 'vitest';
import golden from './head.json';
import { fromBase64, toBase64 } from '../src/lib/bytes.ts';
import { openHead, othersOf, type Member } from '../src/lib/head.ts';
import type { Json } from '../src/lib/json.ts';
import { verify } from '../src/lib/proof.ts';

const { signer, head, proof, row } = golden;
const entry = row.entry as unknown as { [name: string]: Json };
const open = (note: string, members: Member[] = signer.members) => openHead(note, head.keys, signer.cluster, 'budget/0', members);
// The note with a bit turned in the signature of one line.
const turned = (line: number) => {
  const lines = head.note.split('\n');
  const at = lines.findIndex((one) => one.startsWith('\u2014')) + line;
  const [dash, name, signature] = lines[at]!.split(' ') as [string, string, string];
  const bytes = fromBase64(signature);
  bytes[bytes.length - 1]! ^= 1;
  lines[at] = [dash, name, toBase64(bytes)].join(' ');
  return lines.join('\n');
};

describe('a head', () => {
  it('names its owner and who cosigned it', async () => {
    const made = await open(head.note);
    expect([made.owner.name, made.size, made.epoch, made.cosigners.map((one) => one.by.name)]).toEqual(['desk', 5n, '1', ['lab']]);
    const ids = Object.fromEntries(signer.members.map((one) => [one.name, one.device]));
    expect([othersOf(made, ids['desk']!), othersOf(made, ids['lab']!)]).toEqual([['lab'], ['desk']]);
    expect(made.cosigners[0]!.at.getUTCFullYear()).toBe(2026);
  });
  it('is refused if a signature does not fit, or its owner signed none', async () => {
    for (const line of [0, 1]) await expect(open(turned(line))).rejects.toThrow('does not fit');
    await expect(open(head.note.replace('\n5\n', '\n6\n'))).rejects.toThrow('does not fit');
    await expect(openHead(head.note, head.keys, signer.cluster, 'budget/1', signer.members)).rejects.toThrow('another ledger');
    await expect(open(head.note, signer.members.slice(1))).rejects.toThrow('its owner has not signed it');
    const stranger = signer.members.map((one) => (one.name === 'lab' ? { ...one, keys: ['00'.repeat(32)] } : one));
    expect((await open(head.note, stranger)).cosigners).toEqual([]);
  });
  it('covers an entry, or the proof says so', async () => {
    const made = await verify(proof, entry, row.leafHash, signer, null, head);
    expect([made.good, made.head?.cosigners[0]?.by.name]).toEqual([true, 'lab']);
    const other = await verify(proof, entry, row.leafHash, signer, null, { ...head, path: head.path.toReversed() });
    expect([other.good, other.head]).toEqual([false, null]);
    expect((await verify(proof, entry, row.leafHash, signer, null)).head).toBeNull();
  });
});
