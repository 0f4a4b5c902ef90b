// Heads of a cluster's ledgers: what the owner of a log signed, and which devices and witnesses vouch that they hold the
// same entries (docs/ledger-format.md, section 9). Pure but for WebCrypto.
import { fromHex, same, type Bytes } from './bytes.ts';
import { holds, keyIdOf, parseCheckpoint, parseNote, parseVerifier, type Note } from './note.ts';

export interface Member {
  device: string;
  name: string;
  keys: string[]; // hex
}
export interface Head {
  size: bigint;
  root: Bytes;
  epoch: string;
  owner: Member;
  cosigners: { by: Member; at: Date }[]; // other devices
  witnesses: { name: string; at: Date }[]; // outside of the cluster, by keys that the node gave
}

// Who signed it, but this device.
export const othersOf = (head: Head, device: string): string[] => [
  ...[head.owner, ...head.cosigners.map((one) => one.by)].filter((one) => one.device !== device).map((one) => one.name),
  ...head.witnesses.map((one) => one.name),
];

const kSignature = 1;
const kCosignature = 4;
const utf8 = new TextEncoder();

// When the key of this type signed it. Null: it did not. Throws if a signature of it does not hold.
async function signedBy(note: Note, name: string, key: Bytes, type: number): Promise<Date | null> {
  const id = await keyIdOf(name, type, key);
  for (const one of note.signatures) {
    if (one.name !== name || !same(one.keyId, id)) continue;
    let text = note.text;
    let at = new Date(0);
    let signature = one.signature;
    if (type === kCosignature) {
      if (signature.length !== 72) throw new Error(`a cosignature of ${name} has another length`);
      const seconds = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
      text = `cosignature/v1\ntime ${seconds}\n${text}`;
      at = new Date(Number(seconds) * 1000);
      signature = signature.slice(8);
    }
    if (!(await holds(key, signature, utf8.encode(text)))) throw new Error(`a signature of ${name} does not fit`);
    return at;
  }
  return null;
}

// `keys`: verifier keys as the node gives them; those of devices are taken from `members`. Throws with what is wrong.
export async function openHead(text: string, keys: string[], cluster: string, partition: string, members: Member[]): Promise<Head> {
  const note = parseNote(text);
  const stated = parseCheckpoint(note.text);
  const log = `witan/${cluster}/${partition}/`;
  const [, epoch, device] = (stated.origin.startsWith(log) && /^(\d+)\/([0-9a-f]+)@[0-9a-f]{8}$/.exec(stated.origin.slice(log.length))) || [];
  if (epoch === undefined) throw new Error('the head is of another ledger');
  const signs = async (one: Member, type: number): Promise<Date | null> => {
    for (const key of one.keys) {
      const at = await signedBy(note, `witan/${cluster}/${one.device}`, fromHex(key), type);
      if (at !== null) return at;
    }
    return null;
  };
  const owner = members.find((one) => one.device === device);
  if (owner === undefined || (await signs(owner, kSignature)) === null) throw new Error('its owner has not signed it');
  const head: Head = { size: stated.size, root: stated.root, epoch, owner, cosigners: [], witnesses: [] };
  for (const one of members) {
    const at = one === owner ? null : await signs(one, kCosignature);
    if (at !== null) head.cosigners.push({ by: one, at });
  }
  for (const given of keys) {
    if (given.startsWith(`witan/${cluster}/`)) continue;
    const key = await parseVerifier(given);
    const at = await signedBy(note, key.name, key.key, key.type);
    if (at !== null) head.witnesses.push({ name: key.name, at });
  }
  return head;
}
