// The bytes of a ledger entry, decoded without any library: one canonical Cap'n Proto segment (docs/ledger-format.md,
// section 4). Throws on what is not such an entry. Pure functions.
import type { Bytes } from './bytes.ts';
import { parseJson, type Json } from './json.ts';

export const kTags = ['approved', 'rejected', 'escalated', 'cCommitted', 'cRejected'] as const;
export type Tag = (typeof kTags)[number];

export interface DecodedEntry {
  seq: bigint;
  micros: bigint;
  tag: Tag;
  escalation: bigint;
  entity: string;
  role: string;
  device: string;
  agent: string;
  operationId: string;
  action: string; // JSON, as in the bytes
  invariant: string;
  message: string;
  writes: string;
  verdicts: Bytes; // 0 not evaluated, 1 pass, 2 reject, 3 escalate
  counselor: string;
  reason: string;
  decision: string;
  stateDigest: Bytes;
  genesis: string;
  runKey: Bytes;
  planDigest: Bytes;
  epoch: bigint; // of the first entry of an epoch
  owner: string;
  shown: Bytes; // of a counselor
  signature: Bytes;
  proof: Bytes; // of the proposer's device
}

const kMostWords = 1 << 21;
const kDataWords = 5;
const kPointers = 22;

export function decodeEntry(bytes: Bytes): DecodedEntry {
  if (bytes.length === 0 || bytes.length % 8 !== 0 || bytes.length / 8 > kMostWords)
    throw new Error('the bytes are no segment');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const words = bytes.length / 8;
  const word = (at: number): bigint => {
    if (at < 0 || at >= words) throw new Error('a pointer leaves the segment');
    return view.getBigUint64(at * 8, true);
  };
  const target = (at: number, pointer: bigint): number => at + 1 + (Number(pointer & 0xffffffffn) >> 2);

  const root = word(0);
  if ((root & 3n) !== 0n || root === 0n) throw new Error('the root is no struct');
  const start = target(0, root);
  const dataWords = Number((root >> 32n) & 0xffffn);
  const pointers = Number(root >> 48n);
  if (dataWords > kDataWords || pointers > kPointers) throw new Error('the entry has members that this console does not know');
  if (start !== 1 || start + dataWords + pointers > words) throw new Error('the root leaves the segment');
  const data = (index: number): bigint => (index < dataWords ? word(start + index) : 0n);

  const blob = (index: number): Bytes => {
    if (index >= pointers) return new Uint8Array();
    const at = start + dataWords + index;
    const pointer = word(at);
    if (pointer === 0n) return new Uint8Array();
    if ((pointer & 3n) !== 1n || ((pointer >> 32n) & 7n) !== 2n) throw new Error('a member is no text');
    const from = target(at, pointer) * 8;
    const length = Number(pointer >> 35n);
    if (from < 8 || from + length > bytes.length) throw new Error('a text leaves the segment');
    return bytes.slice(from, from + length);
  };
  const text = (index: number): string => {
    const raw = blob(index);
    if (raw.length === 0) return '';
    if (raw.at(-1) !== 0) throw new Error('a text has no end');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw.subarray(0, -1));
  };

  const tag = kTags[Number(data(2) & 0xffffn)];
  if (tag === undefined || data(2) > 0xffffn) throw new Error('the kind of the entry is unknown');
  const verdicts = blob(9);
  if (verdicts.some((verdict) => verdict > 3)) throw new Error('a verdict is unknown');
  const entry: DecodedEntry = {
    seq: data(0),
    micros: BigInt.asIntN(64, data(1)),
    tag,
    escalation: data(3),
    entity: text(0),
    role: text(1),
    device: text(2),
    agent: text(3),
    operationId: text(4),
    action: text(5),
    invariant: text(6),
    message: text(7),
    writes: text(8),
    verdicts,
    counselor: text(11),
    reason: text(12),
    decision: text(13),
    stateDigest: blob(14),
    genesis: text(15),
    runKey: blob(16),
    planDigest: blob(17),
    epoch: data(4),
    owner: text(18),
    shown: blob(19),
    signature: blob(20),
    proof: blob(21),
  };
  if (entry.entity === '' || entry.operationId === '') throw new Error('the entry names no entity or operation');
  return entry;
}

// The JSON of a member; null for none.
export function jsonMember(text: string): Json {
  return text === '' ? null : parseJson(text);
}
