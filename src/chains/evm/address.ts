import { keccak256 } from './keccak.ts';

export const zeroAddress = '0x0000000000000000000000000000000000000000';

const wellFormed = /^0x[0-9a-fA-F]{40}$/;
const ascii = Buffer.alloc(40);

/**
 * Adds the EIP-55 checksum to 40 lower-case digits: a letter is upper-case if the same nibble of the hash is 8 or more.
 */
export const addressOfDigits = (digits: string): string => {
  ascii.write(digits, 'latin1');
  const hash = keccak256(ascii);
  for (let i = 0; i < 40; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15;
    // Letters are 97 … 102 in ASCII, digits below; clearing bit 5 makes a letter upper-case.
    if (nibble >= 8 && ascii[i]! >= 97) ascii[i]! -= 32;
  }
  return `0x${ascii.toString('latin1')}`;
};

/** The checksummed address of 20 bytes. */
export const addressOfBytes = (bytes: Uint8Array): string => {
  if (bytes.length !== 20) throw new RangeError('an EVM address has 20 bytes');
  return addressOfDigits(Buffer.from(bytes.buffer, bytes.byteOffset, 20).toString('hex'));
};

/** The 20 bytes of a well-formed address. */
export const bytesOfAddress = (address: string): Uint8Array => {
  if (!wellFormed.test(address)) throw new RangeError('not an EVM address');
  return Buffer.from(address.slice(2), 'hex');
};

/**
 * The checksummed form of an address, or null. All-lower and all-upper digits carry no checksum and are accepted; mixed
 * case must be correct. Accepts the zero address: callers that must not pay to it check `isZeroAddress`.
 */
export const parseEvmAddress = (text: string): string | null => {
  if (!wellFormed.test(text)) return null;
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const checksummed = addressOfDigits(lower);
  const hasNoChecksum = digits === lower || digits === digits.toUpperCase();
  return hasNoChecksum || text === checksummed ? checksummed : null;
};

export const isZeroAddress = (address: string): boolean => address === zeroAddress;
