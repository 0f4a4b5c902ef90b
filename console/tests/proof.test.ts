// Proofs of a ledger (golden.json: entries and paths as a node gave them; the statements are signed with a key made for the test), and what must not pass.
import { describe, expect, it } from 'vitest';
import golden from './golden.json';
import { fromBase64, fromHex, toBase64, toHex } from '../src/lib/bytes.ts';
import { decodeEntry } from '../src/lib/entry.ts';
import type { Json } from '../src/lib/json.ts';
import type { Row } from '../src/lib/live.ts';
import { isPrefix, leafHash, rootOf } from '../src/lib/merkle.ts';
import { parseCheckpoint, parseNote, parseVerifier } from '../src/lib/note.ts';
import { verify, type ProofAnswer, type Seen, type Signer } from '../src/lib/proof.ts';

type Shown = { [name: string]: Json };
const signer: Signer = { ...golden.signer, persons: [], members: [] };
const proofs = golden.proofs as ProofAnswer[];
const shown = (i: number) => structuredClone(golden.rows[i]!.entry) as unknown as Shown;
const leaf = (i: number) => golden.rows[i]!.leafHash;
const bad = (verdict: { steps: { name: string; state: string }[] }) =>
  verdict.steps.filter((step) => step.state !== 'good').map((step) => step.name);

describe('a proof', () => {
  it('holds for every entry, and every member of the shown entry is that of the bytes', async () => {
    for (const [i, proof] of proofs.entries()) {
      const verdict = await verify(proof, shown(i), leaf(i), signer, null);
      expect(bad(verdict), `entry ${i + 1}`).toEqual([]);
      expect(verdict.good).toBe(true);
      expect(verdict.entry?.seq).toBe(BigInt(i + 1));
    }
  });
  it('fails at the member that was changed on the way', async () => {
    const changes: [string, Json][] = [
      ['entity', 'Davit'],
      ['message', 'all is well'],
      ['invariant', 'UDT_CODE_KIND'],
      ['tag', 'approved'],
      ['role', 'Billing'],
      ['time', '2026-11-25T08:08:57.000001Z'],
      ['action', { type: 'OrderTest' }],
      ['verdicts', { UDT_DEFINITIVE_LIMIT: 'pass' }],
      ['stateDigest', '00'],
      ['writes', {}],
      ['counselor', 'dr.nobody'],
    ];
    for (const [name, value] of changes) {
      const entry = shown(9);
      entry[name] = value;
      const verdict = await verify(proofs[9]!, entry, leaf(9), signer, null);
      expect(bad(verdict)).toEqual(['What you read is what was hashed']);
      expect(verdict.steps.find((step) => step.state === 'bad')?.what).toBe(`the bytes have another ${name}`);
      expect(verdict.seen).toBeNull();
    }
  });
  it('covers the first state and what earlier entries wrote', async () => {
    const rows = golden.rows as unknown as Row[];
    const of = (i: number) => rows.slice(0, i + 1).filter((row) => row.entry!['entity'] === rows[i]!.entry!['entity']);
    for (const [i, proof] of proofs.entries()) expect(bad(await verify(proof, shown(i), leaf(i), signer, null, null, of(i))), `entry ${i + 1}`).toEqual([]);
    const step = ['The states before and after are of the ledger'];
    const last = proofs.length - 1;
    const forged = (change: (rows: Row[]) => void) => {
      const all = structuredClone(of(last));
      change(all);
      return verify(proofs[last]!, shown(last), leaf(last), signer, null, null, all);
    };
    expect(bad(await forged((all) => ((all[0]!.entry!['genesis'] as Shown)['at'] = '2020-01-01T00:00:00Z')))).toEqual(step);
    expect(bad(await forged((all) => (all[0]!.entry!['writes'] = {})))).toEqual(step);
    expect(bad(await forged((all) => all.splice(1, 1)))).toEqual(step);
    expect(bad(await forged((all) => all.shift()))).toEqual(step);
  });
  it('fails for any changed bit of the bytes', async () => {
    const bytes = fromBase64(proofs[9]!.bytes);
    for (let at = 0; at < bytes.length; at += 7) {
      const other = bytes.slice();
      other[at]! ^= 1 << (at % 8);
      const verdict = await verify({ ...proofs[9]!, bytes: toBase64(other) }, shown(9), leaf(9), signer, null);
      expect(verdict.good, `byte ${at}`).toBe(false);
      expect(bad(verdict)).toContain('The leaf leads to the root');
    }
  });
  it('fails for a path that is cut, longer, or of another entry', async () => {
    const proof = proofs[9]!;
    for (const path of [proof.path.slice(1), [...proof.path, proof.path[0]!], proofs[3]!.path, [], ['zz']])
      expect(bad(await verify({ ...proof, path }, shown(9), leaf(9), signer, null))).toContain('The leaf leads to the root');
    expect((await verify({ ...proof, index: 8 }, shown(9), leaf(9), signer, null)).good).toBe(false);
  });
  it('fails for another signature, another key, another ledger', async () => {
    const proof = proofs[9]!;
    const signed = /\u2014 \S+ (\S+)\n$/.exec(proof.statement)![1]!;
    const forged = fromBase64(signed);
    forged[20]! ^= 1;
    const verdict = await verify({ ...proof, statement: proof.statement.replace(signed, toBase64(forged)) }, shown(9), leaf(9), signer, null);
    expect(bad(verdict)).toEqual(['The device signed that root']);
    expect(bad(await verify(proof, shown(9), leaf(9), { ...signer, keys: ['00'.repeat(32)] }, null))).toEqual(['The device signed that root']);
    expect((await verify({ ...proof, partition: 'udt/3' }, shown(9), leaf(9), signer, null)).good).toBe(false);
    for (const other of [{ device: '00' }, { cluster: 'c-0' }])
      expect(bad(await verify(proof, shown(9), leaf(9), { ...signer, ...other }, null))).toContain('The leaf leads to the root');
    expect((await verify({ ...proof, statement: 'no note' }, shown(9), leaf(9), signer, null)).good).toBe(false);
  });
  it('shows whether the ledger continues the one seen before', async () => {
    const stated = parseCheckpoint(parseNote(proofs[0]!.statement).text);
    const first: Seen = { size: '5', root: toHex(await rootOfFirst(5)), verifier: '' };
    expect(bad(await verify(proofs[0]!, shown(0), leaf(0), signer, first))).toEqual([]);
    expect(bad(await verify(proofs[0]!, shown(0), leaf(0), signer, { ...first, root: '11'.repeat(32) }))).toEqual([
      'The copy continues the one seen before',
    ]);
    const longer = { ...first, size: (stated.size + 1n).toString() };
    expect((await verify(proofs[0]!, shown(0), leaf(0), signer, longer)).good).toBe(false);
  });
});

// RFC 6962, section 2.1, as it is written.
async function rootOfFirst(count: number): Promise<Uint8Array<ArrayBuffer>> {
  const leaves = golden.rows.slice(0, count).map((row) => fromHex(row.leafHash));
  const { sha256, join } = await import('../src/lib/bytes.ts');
  const root = async (list: Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> => {
    if (list.length === 1) return list[0]!;
    let k = 1;
    while (k * 2 < list.length) k *= 2;
    return sha256(join(Uint8Array.of(1), await root(list.slice(0, k)), await root(list.slice(k))));
  };
  return root(leaves);
}

describe('the tree', () => {
  it('has the root of the definition', async () => {
    const all = await rootOfFirst(14);
    expect(toHex(await rootOf(fromHex(leaf(0)), 0n, 14n, proofs[0]!.path.map(fromHex)))).toBe(toHex(all));
    expect(await isPrefix(14n, all, 14n, all, [])).toBe(true);
    expect(await isPrefix(0n, all, 14n, all, [])).toBe(false);
    await expect(rootOf(fromHex(leaf(0)), 14n, 14n, [])).rejects.toThrow('outside');
  });
  it('hashes bytes to the leaf that the node shows', async () => {
    for (const [i, proof] of proofs.entries()) expect(toHex(await leafHash(fromBase64(proof.bytes)))).toBe(leaf(i));
  });
});

describe('bytes from strangers', () => {
  it('are an entry or an error, never more', () => {
    const bytes = fromBase64(proofs[6]!.bytes);
    expect(decodeEntry(bytes).tag).toBe('escalated');
    let refused = 0;
    for (let at = 0; at < bytes.length; ++at)
      for (const value of [0, 0xff, 0x7f]) {
        const other = bytes.slice();
        other[at] = value;
        try {
          decodeEntry(other);
        } catch {
          ++refused;
        }
      }
    expect(refused).toBeGreaterThan(100);
    for (const size of [0, 7, 8, 16, bytes.length - 8]) expect(() => decodeEntry(bytes.slice(0, size))).toThrow();
  });
  it('are no verifier key with the id of another', async () => {
    const key = proofs[0]!.verifier;
    expect(toHex((await parseVerifier(key)).key)).toBe(signer.keys[0]);
    await expect(parseVerifier(key.replace(/\+[0-9a-f]{8}\+/, '+00000000+'))).rejects.toThrow('another key');
    await expect(parseVerifier('x')).rejects.toThrow();
  });
});
