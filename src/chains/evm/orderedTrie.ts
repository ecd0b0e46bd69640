import { keccak256 } from './keccak.ts';
import { encodeRlp, type Rlp, rlpNumber } from './rlp.ts';

type Leaf = { readonly path: readonly number[]; readonly value: Uint8Array };

const nibblesOf = (bytes: Uint8Array): number[] => [...bytes].flatMap(byte => [byte >> 4, byte & 15]);

/** Hex-prefix encoding: a flag for leaf and odd length, then the nibbles. */
const compact = (path: readonly number[], isLeaf: boolean): Uint8Array => {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  const nibbles = path.length % 2 === 1 ? [flag, ...path] : [flag, 0, ...path];
  return Buffer.from(nibbles.flatMap((nibble, at) => (at % 2 === 0 ? [(nibble << 4) | nibbles[at + 1]!] : [])));
};

const sharedLength = (leaves: readonly Leaf[]): number => {
  const [first, ...others] = leaves as [Leaf, ...Leaf[]];
  let length = 0;
  while (length < first.path.length && others.every(({ path }) => path[length] === first.path[length])) length++;
  return length;
};

const tail = ({ path, value }: Leaf, from: number): Leaf => ({ path: path.slice(from), value });

/** A node inside another: itself if its encoding is shorter than 32 bytes, else its hash. */
const reference = (node: Rlp): Rlp => {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccak256(encoded);
};

const nodeOf = (leaves: readonly Leaf[]): Rlp => {
  if (leaves.length === 1) return [compact(leaves[0]!.path, true), leaves[0]!.value];
  const shared = sharedLength(leaves);
  if (shared > 0) {
    const below = nodeOf(leaves.map(leaf => tail(leaf, shared)));
    return [compact(leaves[0]!.path.slice(0, shared), false), reference(below)];
  }
  const branches = Array.from({ length: 16 }, (_, nibble): Rlp => {
    const below = leaves.filter(({ path }) => path[0] === nibble).map(leaf => tail(leaf, 1));
    return below.length === 0 ? new Uint8Array() : reference(nodeOf(below));
  });
  // No key of a list is a prefix of another, so no value ends here.
  return [...branches, new Uint8Array()];
};

/** The trie root of a list, as in a block header: each RLP-encoded index maps to its item. */
export const orderedTrieRoot = (items: readonly Uint8Array[]): string => {
  const leaves = items.map((value, at) => ({ path: nibblesOf(encodeRlp(rlpNumber(BigInt(at)))), value }));
  const root = leaves.length === 0 ? new Uint8Array() : nodeOf(leaves);
  return `0x${Buffer.from(keccak256(encodeRlp(root))).toString('hex')}`;
};
