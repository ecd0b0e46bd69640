import { createHash } from 'node:crypto';
import { addressOfBytes, isZeroAddress, parseEvmAddress } from '../../chains/evm/address.ts';
import { create2Deployer, forwarderFactory, forwarderImplementation } from '../../chains/evm/forwarder.ts';
import { deriveXpubAddress } from '../../chains/evm/xpub.ts';
import type { Scope } from '../../core/environment.ts';
import { type FlorinError, invalid } from '../../core/errors.ts';
import { mainnets, testnets } from '../../core/registry/backings.ts';
import type { Network } from '../../core/registry/networks.ts';
import type { Queryable } from '../../storage/database.ts';
import { wasGivenOut } from '../../storage/wallets/wallets.ts';

/** Where the funds of a network go. */
export type Destination = { kind: 'forwarder' | 'xpub'; destination: string };
export type GivenDestination = { treasury: string } | { xpub: string };

/**
 * The default treasury of a new account in the sandbox: an address without a known key. Test tokens are visible there,
 * and the first test payment needs no wallet setup.
 */
export const testTreasury = (accountId: string): string =>
  addressOfBytes(createHash('sha256').update(`florin test treasury ${accountId}`).digest().subarray(12));

/**
 * The accounts of the public mnemonic of development tools: anybody can take funds sent there, and bots do within
 * seconds.
 */
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

/** Tokens in the registry. The operator may have added more. */
const registeredTokens: ReadonlySet<string> = new Set(
  [mainnets, testnets].flatMap(backings =>
    Object.values(backings).flatMap(({ tokens }) => tokens.map(({ address }) => address)),
  ),
);

const refused = (why: string): FlorinError => invalid('treasury', why);

/** Checked first, and never echoed: a private key that was sent here must get no further. */
const refuseSecrets = (given: string): void => {
  const isPrivateKey = /^(?:0x)?[0-9a-fA-F]{64}$/.test(given);
  const isPhrase = /^[a-z]+(?:\s+[a-z]+){11,23}$/i.test(given);
  if (!isPrivateKey && !isPhrase) return;
  throw refused(
    `This looks like a ${isPhrase ? 'recovery phrase' : 'private key'}. Keep it secret and never paste it anywhere: anyone who has it can take the money. Enter the address of your wallet.`,
  );
};

const isToken = (address: string, networks: readonly Network[]): boolean =>
  registeredTokens.has(address) ||
  networks.some(({ currencies }) => currencies.some(({ contractAddress }) => contractAddress === address));

/** Token contracts and Florin's own contracts lock funds for ever or send them in a circle. */
const refuseContracts = (address: string, networks: readonly Network[]): void => {
  if (isZeroAddress(address))
    throw refused('This is the zero address. Funds sent there are lost. Enter the address of your own wallet.');
  if (isToken(address, networks)) {
    throw refused('This is a token contract. Funds sent there are lost. Enter the address of your own wallet.');
  }
  const ours = new Set([create2Deployer, forwarderFactory, forwarderImplementation]);
  if (ours.has(address))
    throw refused('This is a contract that creates payment addresses. Enter the address of your own wallet.');
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
    throw refused('This is a test address: its key is public or unknown. Enter the address of your own wallet.');
  }
  if (await wasGivenOut(db, address)) {
    throw refused(
      'This is the address of a payment: funds sent there would pay it. Enter the address of your own wallet.',
    );
  }
  return address;
};

/** Validates a destination. This is the only place that decides where funds may go. */
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
    throw invalid(
      'xpub',
      'This is a test key: its recovery phrase is public. Enter the extended public key of your own wallet.',
    );
  }
  return { kind: 'xpub', destination };
};

const shownAddresses = 5;

/** Addresses to compare with the merchant's own wallet. */
export const sampleAddresses = ({ kind, destination }: Destination): string[] =>
  kind === 'forwarder'
    ? []
    : Array.from({ length: shownAddresses }, (_, index) => deriveXpubAddress(destination, index));
