import { keccak256 } from './keccak.ts';

/** A header's bloom filter has 2048 bits. Each log sets three for its contract and three for each topic. */
export const bloomBytes = 256;

/** The three bits of an item, as (byte, mask) pairs. */
export type BloomBits = readonly (readonly [number, number])[];

export const bloomBits = (item: Uint8Array): BloomBits => {
  const hash = keccak256(item);
  return [0, 2, 4].map(at => {
    const bit = ((hash[at]! << 8) | hash[at + 1]!) & 2047;
    return [bloomBytes - 1 - (bit >> 3), 1 << (bit & 7)] as const;
  });
};

export const setBits = (bloom: Uint8Array, bits: BloomBits): void => {
  for (const [byte, mask] of bits) bloom[byte]! |= mask;
};

/** False is certain; true may be a coincidence. */
export const mayContain = (bloom: Uint8Array, bits: BloomBits): boolean =>
  bits.every(([byte, mask]) => (bloom[byte]! & mask) !== 0);

/** Whether the computed filter has every bit of the header's filter. */
export const covers = (computed: Uint8Array, header: Uint8Array): boolean =>
  header.every((byte, at) => (byte & ~computed[at]!) === 0);
