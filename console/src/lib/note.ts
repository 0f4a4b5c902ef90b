// C2SP signed notes and checkpoints, as docs/ledger-format.md describes them. Pure functions; WebCrypto checks.
import { fromBase64, join, same, sha256, toHex, type Bytes } from './bytes.ts';

export interface Checkpoint {
  origin: string;
  size: bigint;
  root: Bytes;
  extensions: string[];
}
export interface Verifier {
  name: string;
  keyId: Bytes;
  key: Bytes;
  type: number; // 1: signs the text; 4: cosigns it, with a time
}
export interface Note {
  text: string; // what is signed
  signatures: { name: string; keyId: Bytes; signature: Bytes }[];
}

const utf8 = new TextEncoder();
const kLongestNote = 1 << 20;

export function parseNote(note: string): Note {
  if (note.length > kLongestNote) throw new Error('the statement is too long');
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) throw new Error('the statement has no signature');
  const lines = note.slice(end + 2, -1).split('\n');
  const signatures = lines.map((line) => {
    const parts = /^\u2014 (\S+) (\S+)$/.exec(line);
    if (!parts) throw new Error('a signature line has another form');
    const bytes = fromBase64(parts[2]!);
    if (bytes.length < 5) throw new Error('a signature is too short');
    return { name: parts[1]!, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
  });
  return { text: note.slice(0, end + 1), signatures };
}

export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.length < 4 || lines.at(-1) !== '') throw new Error('the statement has too few lines');
  const [origin, size, root, ...extensions] = lines.slice(0, -1) as [string, string, string, ...string[]];
  if (!/^(0|[1-9][0-9]{0,18})$/.test(size)) throw new Error('the size in the statement is no number');
  const hash = fromBase64(root);
  if (hash.length !== 32) throw new Error('the root in the statement is no hash');
  return { origin, size: BigInt(size), root: hash, extensions };
}

export const keyIdOf = async (name: string, type: number, key: Bytes): Promise<Bytes> =>
  (await sha256(join(utf8.encode(name), Uint8Array.of(10, type), key))).slice(0, 4);

// "<name>+<key id>+<base64(type || key)>"; the base64 may contain more of '+'.
export async function parseVerifier(text: string): Promise<Verifier> {
  const parts = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim());
  if (!parts) throw new Error('the verifier key has another form');
  const bytes = fromBase64(parts[3]!);
  const type = bytes[0] ?? 0;
  if (bytes.length !== 33 || (type !== 1 && type !== 4)) throw new Error('the verifier key is no Ed25519 key');
  const name = parts[1]!;
  const key = bytes.slice(1);
  const keyId = await keyIdOf(name, type, key);
  if (toHex(keyId) !== parts[2]) throw new Error('the id of the verifier key is of another key');
  return { name, keyId, key, type };
}

export class NoEd25519 extends Error {}

// Whether it is an Ed25519 signature of the text by this key. NoEd25519: this browser cannot tell.
export async function holds(key: Bytes, signature: Bytes, text: Bytes): Promise<boolean> {
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    throw new NoEd25519('this browser does not check Ed25519 signatures');
  }
  return crypto.subtle.verify({ name: 'Ed25519' }, imported, signature, text);
}

// Whether one of the note's signatures is this key's, and right. Throws as `holds`.
export async function isSignedBy(note: Note, verifier: Verifier): Promise<boolean> {
  if (verifier.type !== 1) return false;
  const mine = note.signatures.filter((one) => one.name === verifier.name && same(one.keyId, verifier.keyId));
  for (const one of mine) if (!(await holds(verifier.key, one.signature, utf8.encode(note.text)))) return false;
  return mine.length > 0;
}
