// Whether an entry is what a node shows of it, and in that node's copy of the ledger: from the bytes to a root that the
// node states and signs now, and to the head that the ledger's owner signed and other devices cosigned. Each step stands
// by itself, so that a reader sees which one failed. Pure but for WebCrypto. What was seen before is the caller's to
// keep.
import { fromBase64, fromHex, same, toHex, type Bytes } from './bytes.ts';
import { openHead, type Head, type Member } from './head.ts';
import { decodeEntry, jsonMember, type DecodedEntry } from './entry.ts';
import { chainTo } from './history.ts';
import { canonical, type Json } from './json.ts';
import type { Row } from './live.ts';
import { isPrefix, leafHash, rootOf } from './merkle.ts';
import { holds, isSignedBy, NoEd25519, parseCheckpoint, parseNote, parseVerifier } from './note.ts';
import { answerText } from './person.ts';
import { parseTime } from './time.ts';

export interface ProofAnswer {
  partition: string;
  seq: number | bigint;
  bytes: string;
  index: number | bigint;
  path: string[];
  statement: string;
  verifier: string;
  consistency?: string[] | undefined;
}
// The device that answers, as the roster has it.
export interface Signer {
  cluster: string;
  device: string;
  name: string;
  keys: string[]; // public keys in hex
  persons: { name: string; keys: string[] }[];
  members: Member[];
}
// The newest head that covers the entry, and the path to its root.
export interface HeadAnswer {
  note: string;
  keys: string[];
  path: string[];
}
export interface Step {
  name: string;
  state: 'good' | 'bad' | 'open'; // open: could not be tried
  what: string;
}
export interface Seen {
  size: string; // decimal
  root: string; // hex
  verifier: string;
}
export interface Verdict {
  steps: Step[];
  good: boolean; // every step
  entry: DecodedEntry | null;
  seen: Seen | null; // what to keep, if all is well
  leaf: string;
  held: { size: bigint; root: string; time: string } | null; // what the device stated, by its clock
  head: Head | null; // that covers the entry, and holds
}

const kTexts = ['entity', 'role', 'device', 'agent', 'operationId', 'invariant', 'message', 'counselor', 'reason', 'owner'] as const;
const kJson = ['action', 'writes', 'decision', 'genesis'] as const;

// The first member in which the shown JSON differs from the bytes; "" if there is none.
export function firstDifference(entry: DecodedEntry, shown: { [name: string]: Json }, invariants: string[]): string {
  if (String(shown['seq']) !== entry.seq.toString()) return 'seq';
  if (shown['tag'] !== entry.tag) return 'tag';
  if (parseTime(String(shown['time'])) !== entry.micros) return 'time';
  if (String(shown['escalation'] ?? 0) !== entry.escalation.toString()) return 'escalation';
  for (const name of kTexts) if ((shown[name] ?? '') !== entry[name]) return name;
  for (const name of kJson)
    if (canonical(shown[name] ?? null) !== canonical(jsonMember(entry[name]))) return name;
  if (String(shown['epoch'] ?? 0) !== entry.epoch.toString()) return 'epoch';
  for (const name of ['stateDigest', 'runKey', 'planDigest', 'shown', 'signature', 'proof'] as const)
    if ((shown[name] ?? '') !== toHex(entry[name])) return name;
  const words = ['', 'pass', 'reject', 'escalate'];
  const verdicts: { [name: string]: Json } = {};
  entry.verdicts.forEach((verdict, i) => {
    if (verdict > 0) verdicts[invariants[i] ?? `#${i}`] = words[verdict]!;
  });
  return canonical(shown['verdicts'] ?? {}) === canonical(verdicts) ? '' : 'verdicts';
}

async function step(steps: Step[], name: string, work: () => Promise<string> | string): Promise<boolean> {
  try {
    steps.push({ name, state: 'good', what: await work() });
    return true;
  } catch (error) {
    steps.push({
      name,
      state: error instanceof NoEd25519 ? 'open' : 'bad',
      what: error instanceof Error ? error.message : String(error),
    });
    return false;
  }
}

function must(good: boolean, problem: string): void {
  if (!good) throw new Error(problem);
}

// `before`: what was seen of this copy earlier. `rows`: all entries of the entity up to this one, oldest first; null: they
// are not shown.
export async function verify(
  proof: ProofAnswer,
  shown: { [name: string]: Json } | null,
  leafShown: string,
  signer: Signer,
  before: Seen | null,
  covering: HeadAnswer | null = null,
  rows: Row[] | null = null,
): Promise<Verdict> {
  const steps: Step[] = [];
  let entry: DecodedEntry | null = null;
  let leaf: Bytes | null = null;
  let root: Bytes | null = null;
  let size = 0n;
  let time = '';
  let invariants: string[] = [];

  await step(steps, 'The bytes are an entry', () => {
    entry = decodeEntry(fromBase64(proof.bytes));
    must(entry.seq === BigInt(proof.seq) && BigInt(proof.index) === entry.seq - 1n, 'the number is of another entry');
    return `${proof.bytes.length} characters of base64, entry ${entry.seq}`;
  });
  await step(steps, 'Their hash is the leaf', async () => {
    leaf = await leafHash(fromBase64(proof.bytes));
    must(toHex(leaf) === leafShown, `the ledger shows ${leafShown}, the bytes hash to ${toHex(leaf)}`);
    return toHex(leaf);
  });
  await step(steps, 'The leaf leads to the root', async () => {
    const stated = parseCheckpoint(parseNote(proof.statement).text);
    size = stated.size;
    must(leaf !== null, 'there is no leaf');
    const origin = `witan-copy/${signer.cluster}/${signer.device}/${proof.partition}`;
    must(stated.origin === origin, 'the statement is of another ledger or device');
    const found = await rootOf(leaf!, BigInt(proof.index), size, proof.path.map(fromHex));
    must(same(found, stated.root), 'the path leads to another root than the statement has');
    root = stated.root;
    const line = (name: string) => (stated.extensions.find((one) => one.startsWith(name + ' ')) ?? '').slice(name.length + 1);
    invariants = line('invariants').split(' ');
    time = line('time');
    return `${proof.path.length} hashes to the root of ${size} entries, ${toHex(root)}`;
  });
  await step(steps, 'The device signed that root', async () => {
    const verifier = await parseVerifier(proof.verifier);
    must(await isSignedBy(parseNote(proof.statement), verifier), 'the signature does not fit');
    const key = toHex(verifier.key);
    must(signer.keys.includes(key), `the key is not one of ${signer.name}'s in the roster`);
    return `${signer.name}, key ${key}, at ${time}`;
  });
  if (shown !== null)
    await step(steps, 'What you read is what was hashed', () => {
      must(entry !== null, 'there are no bytes');
      const difference = firstDifference(entry!, shown, invariants);
      must(difference === '', `the bytes have another ${difference}`);
      return 'every member agrees';
    });
  const answer = entry as DecodedEntry | null;
  if (rows !== null)
    await step(steps, 'The states before and after are of the ledger', async () => {
      must(answer !== null, 'there are no bytes');
      must((await chainTo(rows, Number(answer!.seq))) === toHex(answer!.stateDigest), 'the first state or an earlier entry, as the node shows it, is not what this entry rests on');
      return `the first state and all that was written since hash to ${toHex(answer!.stateDigest)}, which stands in the bytes`;
    });
  if (answer !== null && answer.signature.length > 0)
    await step(steps, 'The counselor signed this answer', async () => {
      const key = answer.signature.slice(0, 32);
      const by = signer.persons.find((one) => one.keys.includes(toHex(key)));
      must(by?.name === answer.counselor, `the key is not one of ${answer.counselor}'s in the roster`);
      const said = await answerText({
        cluster: signer.cluster,
        domain: proof.partition.slice(0, proof.partition.lastIndexOf('/')),
        entity: answer.entity,
        counselor: answer.counselor,
        shown: toHex(answer.shown),
        kind: answer.tag === 'cCommitted' ? 'commit' : 'reject',
        decision: answer.decision,
        reason: answer.reason,
      });
      must(await holds(key, answer.signature.slice(32), said), 'the signature does not fit');
      return `${answer.counselor}, key ${toHex(key)}`;
    });
  if (before !== null)
    await step(steps, 'The copy continues the one seen before', async () => {
      const first = BigInt(before.size);
      must(root !== null, 'there is no root');
      must(first <= size, `it had ${first} entries before, and has ${size} now`);
      const path = (proof.consistency ?? []).map(fromHex);
      must(
        await isPrefix(first, fromHex(before.root), size, root!, path),
        `its first ${first} entries are not those that this browser saw: the copy was replaced (see the incidents), or forged`,
      );
      return `the first ${first} entries are the same`;
    });
  let head: Head | null = null;
  if (covering !== null)
    await step(steps, "The leaf leads to the head that the ledger's owner signed", async () => {
      const opened = await openHead(covering.note, covering.keys, signer.cluster, proof.partition, signer.members);
      must(leaf !== null, 'there is no leaf');
      const found = await rootOf(leaf!, BigInt(proof.index), opened.size, covering.path.map(fromHex));
      must(same(found, opened.root), 'the path leads to another root than the head has: the ledger was seized since (see the incidents), or forged');
      head = opened;
      const others = [...opened.cosigners.map((one) => ({ name: one.by.name, at: one.at })), ...opened.witnesses].map((one) => `${one.name} at ${one.at.toISOString()}`);
      return `${opened.size} entries, epoch ${opened.epoch}, signed by ${opened.owner.name}, ${others.length > 0 ? `cosigned by ${others.join(', ')}` : 'cosigned by no other device yet'}`;
    });
  const good = steps.every((one) => one.state === 'good');
  const seen =
    good && root !== null ? { size: size.toString(), root: toHex(root), verifier: proof.verifier } : null;
  const held = root === null ? null : { size, root: toHex(root), time };
  return { steps, good, entry, seen, leaf: leaf === null ? '' : toHex(leaf), held, head };
}
