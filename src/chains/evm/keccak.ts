import { createKeccak } from 'hash-wasm';

// One WebAssembly instance per process, created before this module can be used: 1.0M hashes of 85 bytes a second,
// @noble/hashes does 0.18M. It is never held across an await, so sharing it is safe.
const hasher = await createKeccak(256);

/** Keccak-256 as Ethereum uses it (not SHA3-256). */
export const keccak256 = (data: Uint8Array): Uint8Array => hasher.init().update(data).digest('binary');

/** The same hash as 64 lower-case hexadecimal digits. */
export const keccak256Hex = (data: Uint8Array): string => hasher.init().update(data).digest('hex');
