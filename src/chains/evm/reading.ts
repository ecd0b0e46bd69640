import { createRecentMap } from '../../core/recentMap.ts';
import { addressOfDigits } from './address.ts';
import { RpcFault } from './rpc.ts';

/** Strict readers of RPC answers: an answer in another shape is a fault of the node. */

const malformed = (what: string): RpcFault =>
  new RpcFault('malformed', undefined, `The node sent ${what} in a wrong format.`);

const quantityForm = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/;
const looseQuantityForm = /^0x[0-9a-f]{1,64}$/i;
const hashForm = /^0x[0-9a-f]{64}$/;
const bytesForm = /^0x([0-9a-f]{2})*$/i;
const addressForm = /^0x[0-9a-f]{40}$/;

export const readObject = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what);
  return value as Record<string, unknown>;
};

export const readList = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw malformed(what);
  return value;
};

export const readQuantity = (value: unknown, what: string): bigint => {
  // Some nodes pad with zeros.
  if (typeof value !== 'string' || !(quantityForm.test(value) || looseQuantityForm.test(value))) throw malformed(what);
  return BigInt(value);
};

export const readNumber = (value: unknown, what: string): number => {
  const number = Number(readQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw malformed(what);
  return number;
};

/** Lower-case, with 0x. */
export const readHash = (value: unknown, what: string): string => {
  const lower = typeof value === 'string' ? value.toLowerCase() : '';
  if (!hashForm.test(lower)) throw malformed(what);
  return lower;
};

export const readBytes = (value: unknown, what: string): Buffer => {
  if (typeof value !== 'string' || !bytesForm.test(value)) throw malformed(what);
  return Buffer.from(value.slice(2), 'hex');
};

/** The same few contracts repeat in most logs, and a checksum costs a hash. */
const contracts = createRecentMap<string>(1_000);

/** Checksummed contract address, cached. */
export const readContract = (value: unknown, what: string): string => {
  const cached = typeof value === 'string' ? contracts.get(value) : undefined;
  if (cached !== undefined) return cached;
  const address = readAddress(value, what);
  contracts.set(value as string, address);
  return address;
};

/** Lower-case, with 0x. */
export const readHex = (value: unknown, what: string): string => {
  if (typeof value !== 'string' || !bytesForm.test(value)) throw malformed(what);
  return value.toLowerCase();
};

/** Checksummed. */
export const readAddress = (value: unknown, what: string): string => {
  const lower = typeof value === 'string' ? value.toLowerCase() : '';
  if (!addressForm.test(lower)) throw malformed(what);
  return addressOfDigits(lower.slice(2));
};
