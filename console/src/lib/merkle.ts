// Proofs in an RFC 6962 tree (RFC 9162, sections 2.1.3.2 and 2.1.4.2). Sizes are bigint: a node counts in 64 bits.
// Pure functions; WebCrypto hashes.
import { join, same, sha256, type Bytes } from './bytes.ts';

const kLongestPath = 128;

export const leafHash = (entry: Uint8Array): Promise<Bytes> => sha256(join(Uint8Array.of(0), entry));
const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Bytes> => sha256(join(Uint8Array.of(1), left, right));

// The root to which the path leads from the leaf. Throws if the path has another length than index and size ask for.
export async function rootOf(leaf: Bytes, index: bigint, size: bigint, path: Bytes[]): Promise<Bytes> {
  if (index < 0n || index >= size) throw new Error('the leaf lies outside of the tree');
  if (path.length > kLongestPath) throw new Error('the path is too long');
  let fn = index;
  let sn = size - 1n;
  let root = leaf;
  for (const hash of path) {
    if (sn === 0n) throw new Error('the path is too long');
    if ((fn & 1n) === 1n || fn === sn) {
      root = await nodeHash(hash, root);
      while ((fn & 1n) === 0n && fn !== 0n) {
        fn >>= 1n;
        sn >>= 1n;
      }
    } else {
      root = await nodeHash(root, hash);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  if (sn !== 0n) throw new Error('the path is too short');
  return root;
}

// Whether the tree with the second root begins with the tree with the first one.
export async function isPrefix(
  first: bigint,
  firstRoot: Bytes,
  second: bigint,
  secondRoot: Bytes,
  path: Bytes[],
): Promise<boolean> {
  if (first > second || first < 1n || path.length > kLongestPath) return false;
  if (first === second) return path.length === 0 && same(firstRoot, secondRoot);
  const hashes = (first & (first - 1n)) === 0n ? [firstRoot, ...path] : [...path];
  if (hashes.length === 0) return false;
  let fn = first - 1n;
  let sn = second - 1n;
  while ((fn & 1n) === 1n) {
    fn >>= 1n;
    sn >>= 1n;
  }
  let fr = hashes[0]!;
  let sr = hashes[0]!;
  for (const hash of hashes.slice(1)) {
    if (sn === 0n) return false;
    if ((fn & 1n) === 1n || fn === sn) {
      fr = await nodeHash(hash, fr);
      sr = await nodeHash(hash, sr);
      while ((fn & 1n) === 0n && fn !== 0n) {
        fn >>= 1n;
        sn >>= 1n;
      }
    } else {
      sr = await nodeHash(sr, hash);
    }
    fn >>= 1n;
    sn >>= 1n;
  }
  return sn === 0n && same(fr, firstRoot) && same(sr, secondRoot);
}
