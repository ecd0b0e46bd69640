import factoryArtefact from '../../../contracts/artefacts/ForwarderFactory.json' with { type: 'json' };
import { addressOfBytes, bytesOfAddress, zeroAddress } from './address.ts';
import { keccak256, keccak256Hex } from './keccak.ts';

/** The canonical CREATE2 deployer, at the same address on every network. */
export const create2Deployer = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

const fromHex = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');

/** CREATE2 address: the last 20 bytes of keccak256(0xff ‖ creator ‖ salt ‖ keccak256(initCode)). */
export const create2Address = (creator: string, salt: Uint8Array, initCode: Uint8Array): string => {
  if (salt.length !== 32) throw new RangeError('a CREATE2 salt has 32 bytes');
  const input = Buffer.concat([Buffer.from([0xff]), bytesOfAddress(creator), salt, keccak256(initCode)]);
  return addressOfBytes(keccak256(input).subarray(12));
};

export const factoryInitCode: Uint8Array = fromHex(factoryArtefact.creationCode);
/** Zero. A later version of the factory has other code and so another address. */
export const factorySalt: Uint8Array = new Uint8Array(32);
/** The same on every network, including the dev chain. */
export const forwarderFactory: string = create2Address(create2Deployer, factorySalt, factoryInitCode);

// The factory's first contract has nonce 1: its address is the hash of the RLP list [factory, 1].
const implementationOf = (factory: Uint8Array): Uint8Array =>
  keccak256(Buffer.from([0xd6, 0x94, ...factory, 0x01])).subarray(12);
/** The implementation that every forwarder delegates to. */
export const forwarderImplementation: string = addressOfBytes(implementationOf(bytesOfAddress(forwarderFactory)));

/** The input 0xff ‖ factory ‖ bound salt ‖ hash of the clone's init code, with a gap for the bound salt. */
const derivationTemplate = (factory: string): Uint8Array => {
  const factoryBytes = bytesOfAddress(factory);
  const initCode = Buffer.concat([
    // The init code of the clone, as in ForwarderFactory._initCode.
    Buffer.from('3d602b80600a3d3981f3' + '3615602a57' + '363d3d37' + '3d3d363d73', 'hex'),
    implementationOf(factoryBytes),
    Buffer.from('5af4602a57' + '3d3dfd' + '5b', 'hex'),
  ]);
  return Buffer.concat([Buffer.from([0xff]), factoryBytes, Buffer.alloc(32), keccak256(initCode)]);
};

const defaultTemplate = derivationTemplate(forwarderFactory);
const boundSaltInput = new Uint8Array(64);

export type ForwarderOrigin = {
  /** Checksummed or lower-case. */
  readonly treasury: string;
  /** 32 bytes. */
  readonly salt: Uint8Array;
  readonly factory?: string;
};

/**
 * The 20 bytes of a forwarder's address, equal to `ForwarderFactory.forwarderOf(treasury, salt)`. The buffers are
 * reused, which is safe because nothing here awaits.
 */
export const deriveForwarderBytes = ({ treasury, salt, factory }: ForwarderOrigin): Uint8Array => {
  if (salt.length !== 32) throw new RangeError('a forwarder salt has 32 bytes');
  const template =
    factory === undefined || factory === forwarderFactory ? defaultTemplate : derivationTemplate(factory);
  boundSaltInput.set(bytesOfAddress(treasury), 12);
  boundSaltInput.set(salt, 32);
  template.set(keccak256(boundSaltInput), 21);
  return keccak256(template).subarray(12);
};

/** The checksummed address, which costs a third hash. */
export const deriveForwarder = (origin: ForwarderOrigin): string => addressOfBytes(deriveForwarderBytes(origin));

const sweepSelector = keccak256Hex(Buffer.from('sweep(address,address,bytes32[],uint256)')).slice(0, 8);
/** Enough for any listed token. It limits how much gas a misbehaving token can take from the others. */
const gasPerItem = 200_000n;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const addressWord = (address: string): string => Buffer.from(bytesOfAddress(address)).toString('hex').padStart(64, '0');

/** Call data for the factory: forwards one token, or the native coin, from forwarders of one treasury. */
export const encodeSweep = (sweep: {
  readonly treasury: string;
  readonly token: string | null;
  readonly salts: readonly Uint8Array[];
}): string => {
  const words = [
    addressWord(sweep.treasury),
    addressWord(sweep.token ?? zeroAddress),
    // Offset of the list of salts, after the four words of the head.
    word(0x80n),
    word(gasPerItem),
    word(BigInt(sweep.salts.length)),
    ...sweep.salts.map(salt => Buffer.from(salt).toString('hex')),
  ];
  return `0x${sweepSelector}${words.join('')}`;
};
