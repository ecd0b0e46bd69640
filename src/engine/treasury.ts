import { createHash } from 'node:crypto';
import { addressOfBytes, isZeroAddress, parseEvmAddress } from '../chains/evm/address.ts';
import { create2Deployer, forwarderFactory, forwarderImplementation } from '../chains/evm/forwarder.ts';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
import type { Scope } from '../core/environment.ts';
import { type FlorinError, invalid } from '../core/errors.ts';
import { mainnets, testnets } from '../core/registry/backings.ts';
import type { Network } from '../core/registry/networks.ts';
import type { Queryable } from '../storage/database.ts';
import { wasGivenOut } from '../storage/wallets.ts';

/** Where a network's money is to go. */
export type Destination = { kind: 'forwarder' | 'xpub'; destination: string };
export type GivenDestination = { treasury: string } | { xpub: string };

/**
 * Where a new account's sandbox payments go until the merchant says otherwise: an address of no known key. Test tokens
 * arrive there for all to see, and nobody has to set up a wallet before the first test payment.
 */
export const testTreasury = (accountId: string): string =>
  addressOfBytes(createHash('sha256').update(`florin test treasury ${accountId}`).digest().subarray(12));

/** Of the mnemonic that every development tool has: anybody can take what is sent there, and robots do within seconds. */
const publicAccounts: ReadonlySet<string> = new Set([
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
]);

/** In the registry; an operator may have added more. */
const registeredTokens: ReadonlySet<string> = new Set(
  [mainnets, testnets].flatMap(backings =>
    Object.values(backings).flatMap(({ tokens }) => tokens.map(({ address }) => address)),
  ),
);

const refused = (why: string): FlorinError => invalid('treasury', why);

/** Told apart before anything else, and never repeated: a key that was sent here must get no further. */
const refuseSecrets = (given: string): void => {
  const isPrivateKey = /^(?:0x)?[0-9a-fA-F]{64}$/.test(given);
  const isPhrase = /^[a-z]+(?:\s+[a-z]+){11,23}$/i.test(given);
  if (!isPrivateKey && !isPhrase) return;
  throw refused(
    `This looks like a ${isPhrase ? 'recovery phrase' : 'private key'}. Keep it secret and never paste it anywhere: whoever has it can take the money. Give the address.`,
  );
};

const isToken = (address: string, networks: readonly Network[]): boolean =>
  registeredTokens.has(address) ||
  networks.some(({ currencies }) => currencies.some(({ contractAddress }) => contractAddress === address));

/** Contracts of ours and of tokens keep what is sent to them for ever, or send it round in a circle. */
const refuseContracts = (address: string, networks: readonly Network[]): void => {
  if (isZeroAddress(address)) throw refused('The zero address belongs to nobody: what is sent there is lost.');
  if (isToken(address, networks)) {
    throw refused("This is a token's contract. What is sent there is lost. Give the address of your own wallet.");
  }
  const ours = new Set([create2Deployer, forwarderFactory, forwarderImplementation]);
  if (ours.has(address)) throw refused('This is a contract that makes payment addresses. Give your own wallet.');
};

const readTreasury = async (
  db: Queryable,
  scope: Scope,
  networks: readonly Network[],
  given: string,
): Promise<string> => {
  const text = given.trim();
  refuseSecrets(text);
  const address = parseEvmAddress(text);
  if (!address) {
    throw refused('The treasury must be an EVM address other than zero, with a valid checksum if it has mixed case.');
  }
  refuseContracts(address, networks);
  if (
    scope.environment === 'production' &&
    (publicAccounts.has(address) || address === testTreasury(scope.accountId))
  ) {
    throw refused('This is an address for tests: its key is known to everybody or to nobody. Give your own wallet.');
  }
  if (await wasGivenOut(db, address)) {
    throw refused('This is the address of a payment. What arrives there would count as paid. Give your own wallet.');
  }
  return address;
};

/** What was given, checked: the one place that decides where money may go. */
export const readDestination = async (
  db: Queryable,
  scope: Scope,
  networks: readonly Network[],
  given: GivenDestination,
): Promise<Destination> => {
  if ('treasury' in given) {
    return { kind: 'forwarder', destination: await readTreasury(db, scope, networks, given.treasury) };
  }
  const destination = given.xpub.trim();
  const first = deriveXpubAddress(destination, 0);
  if (scope.environment === 'production' && publicAccounts.has(first)) {
    throw invalid('xpub', 'This is a key for tests: everybody knows its phrase. Give that of your own wallet.');
  }
  return { kind: 'xpub', destination };
};

const shownAddresses = 5;

/** What to look for in one's own wallet. */
export const sampleAddresses = ({ kind, destination }: Destination): string[] =>
  kind === 'forwarder'
    ? []
    : Array.from({ length: shownAddresses }, (_, index) => deriveXpubAddress(destination, index));
