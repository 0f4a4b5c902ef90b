// A person's key and the answers that it signs (docs/ledger-format.md, section 10). The key comes from a file that a
// passphrase opens: PEM, PKCS #8 with scrypt and AES-256-CBC, as `witan person add` writes it. It stays in WebCrypto,
// which does not give it out again. Pure but for WebCrypto.
import { scryptAsync } from '@noble/hashes/scrypt.js';
import type { Schemas } from '../api/client.ts';
import { fromBase64, sha256, toHex, type Bytes } from './bytes.ts';
import { decodeEntry, jsonMember } from './entry.ts';
import { canonical, type Json } from './json.ts';
import { leafHash } from './merkle.ts';
import { parseTime } from './time.ts';

export interface PersonKey {
  publicKey: string; // hex
  key: CryptoKey;
}
export interface Answer {
  cluster: string;
  domain: string;
  entity: string;
  counselor: string;
  shown: string; // hex: digest of what is pending
  kind: 'commit' | 'reject' | 'answer';
  decision: string; // canonical JSON; "" for a rejection
  reason: string;
}

const kLongestFile = 8192;
const kMostMemory = 64 << 20; // of scrypt
const utf8 = new TextEncoder();

interface Der {
  tag: number;
  body: Bytes;
}
// The values that stand in a row. Lengths below 64 KiB.
function readDer(bytes: Bytes): Der[] {
  const list: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at++]!;
    let length = bytes[at++] ?? 0;
    if (length === 0x81) length = bytes[at++] ?? 0;
    else if (length === 0x82) length = ((bytes[at++] ?? 0) << 8) | (bytes[at++] ?? 0);
    else if (length > 0x7f) throw new Error();
    if (at + length > bytes.length) throw new Error();
    list.push({ tag, body: bytes.slice(at, at + length) });
    at += length;
  }
  return list;
}
const kSequence = 0x30;
const kOctets = 0x04;
const kInteger = 0x02;
const kObject = 0x06;
const kPbes2 = '2a864886f70d01050d';
const kScrypt = '2b06010401da47040b';
const kAes256Cbc = '60864801650304012a';

function inside(one: Der | undefined, tag: number): Bytes {
  if (one?.tag !== tag) throw new Error();
  return one.body;
}
const sequence = (one: Der | undefined): Der[] => readDer(inside(one, kSequence));
const is = (one: Der | undefined, id: string): void => {
  if (toHex(inside(one, kObject)) !== id) throw new Error();
};
function integer(one: Der | undefined): number {
  const bytes = inside(one, kInteger);
  if (bytes.length === 0 || bytes.length > 4) throw new Error();
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}

interface Sealed {
  salt: Bytes;
  N: number;
  r: number;
  p: number;
  iv: Bytes;
  text: Bytes;
}
function readSealed(pem: string): Sealed {
  const lines = /-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END ENCRYPTED PRIVATE KEY-----/.exec(pem);
  const [algorithm, text] = sequence(readDer(fromBase64((lines?.[1] ?? '').replace(/\s/g, '')))[0]);
  const [scheme, parameters] = sequence(algorithm);
  is(scheme, kPbes2);
  const [derivation, cipher] = sequence(parameters);
  const [scrypt, costs] = sequence(derivation);
  is(scrypt, kScrypt);
  const [salt, N, r, p] = sequence(costs);
  const [aes, iv] = sequence(cipher);
  is(aes, kAes256Cbc);
  const sealed = { salt: inside(salt, kOctets), N: integer(N), r: integer(r), p: integer(p), iv: inside(iv, kOctets), text: inside(text, kOctets) };
  if (sealed.iv.length !== 16 || 128 * sealed.N * sealed.r > kMostMemory || sealed.p > 16) throw new Error();
  return sealed;
}

// Throws with what is wrong, in words.
export async function openPersonKey(pem: string, passphrase: string): Promise<PersonKey> {
  let sealed: Sealed;
  try {
    if (pem.length > kLongestFile) throw new Error();
    sealed = readSealed(pem);
  } catch {
    throw new Error('this file is no key of a person: witan person add makes one');
  }
  const { salt, N, r, p, iv, text } = sealed;
  const aes = await scryptAsync(utf8.encode(passphrase), salt, { N, r, p, dkLen: 32 });
  const cipher = await crypto.subtle.importKey('raw', aes as Bytes, 'AES-CBC', false, ['decrypt']);
  let plain: Bytes;
  let open: CryptoKey;
  try {
    plain = new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-CBC', iv }, cipher, text));
    if (plain[0] !== kSequence) throw new Error();
  } catch {
    throw new Error('the passphrase does not open the key');
  } finally {
    aes.fill(0);
  }
  try {
    open = await crypto.subtle.importKey('pkcs8', plain, { name: 'Ed25519' }, true, ['sign']);
    const { x } = await crypto.subtle.exportKey('jwk', open);
    const publicKey = toHex(Uint8Array.from(atob((x ?? '').replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0)));
    const key = await crypto.subtle.importKey('pkcs8', plain, { name: 'Ed25519' }, false, ['sign']);
    return { publicKey, key };
  } catch {
    throw new Error('this browser does not sign with Ed25519, or the key is of another kind');
  } finally {
    plain.fill(0);
  }
}

const digestOf = async (text: string): Promise<string> => (text === '' ? '' : toHex(await sha256(utf8.encode(text) as Bytes)));

export const decisionText = (base: string, edit: Json): string => `{"base":"${base}","edit":${canonical(edit)}}`;

export async function answerText(answer: Answer): Promise<Bytes> {
  const { cluster, domain, entity, counselor, kind, shown } = answer;
  const parts = [cluster, domain, entity, counselor, kind, shown, await digestOf(answer.decision), await digestOf(answer.reason)];
  return utf8.encode('witan-answer/1\n' + parts.map((part) => `${utf8.encode(part).length} ${part}\n`).join('')) as Bytes;
}

// Key and signature in hex, as the node takes them.
export async function signAnswer(person: PersonKey, answer: Answer): Promise<string> {
  const signature = await crypto.subtle.sign({ name: 'Ed25519' }, person.key, await answerText(answer));
  return person.publicKey + toHex(new Uint8Array(signature));
}

// Of an answer to a question of a graph, as the node takes it: the whole action is what the person decides. `body` is
// what the reader was shown, and must be what the digest is of.
export async function signGraphAnswer(person: PersonKey, cluster: string, request: Record<string, unknown>, body: Json): Promise<string> {
  const { graph, ...said } = request as { graph: string; by: string; digest: string };
  if ((await digestOf(canonical(body))) !== said.digest) throw new Error('nothing was signed: the digest is not of the message that is shown');
  const decision = canonical({ ...said, type: 'Answer' } as Json);
  return signAnswer(person, { cluster, domain: 'graph', entity: graph, counselor: said.by, kind: 'answer', shown: said.digest, decision, reason: '' });
}

// Whether the digest to be signed is of what the reader was shown: `bytes` (base64) are those of the escalation's entry.
// "", or what differs.
export async function differsFrom(row: Schemas['QueueRow'], bytes: string, invariants: string[]): Promise<string> {
  const raw = fromBase64(bytes);
  if (toHex(await leafHash(raw)) !== row.digest) return 'digest';
  const entry = decodeEntry(raw);
  if (entry.tag !== 'escalated' || entry.seq !== BigInt(row.seq)) return 'seq';
  if (parseTime(row.at) !== entry.micros) return 'time';
  for (const name of ['entity', 'role', 'device', 'agent', 'invariant', 'message'] as const) if (row[name] !== entry[name]) return name;
  if (canonical(row.action as Json) !== canonical(jsonMember(entry.action))) return 'action';
  const found = new Map(row.findings.map((one) => [one.invariant, one.result as string]));
  const results = invariants.map((id, i) => [id, ['', 'pass', 'reject', 'escalate'][entry.verdicts[i] ?? 0]!] as const);
  for (const [id, result] of results) if ((result === 'reject' || result === 'escalate' ? result : '') !== (found.get(id) ?? '')) return `verdict of ${id}`;
  return '';
}
