import silentTestToken from '../../../contracts/artefacts/SilentTestToken.json' with { type: 'json' };
import testToken from '../../../contracts/artefacts/TestToken.json' with { type: 'json' };
import { create2Address, create2Deployer, factoryInitCode, factorySalt, forwarderFactory } from './forwarder.ts';
import { keccak256 } from './keccak.ts';

export type DevToken = {
  readonly slug: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
};

export type DeploymentTransaction = {
  readonly to: string;
  readonly data: string;
  /** Address of the contract it creates. */
  readonly address: string;
};

export type DevChainDeployments = {
  /** Must come first: fund `signer` with `fundingWei`, then submit `rawTransaction` with eth_sendRawTransaction. */
  readonly create2Deployer: typeof create2DeployerSetup;
  /** Send in order from any funded account, with value 0. Sending one again reverts and changes nothing. */
  readonly transactions: readonly DeploymentTransaction[];
  readonly factory: string;
  /** Checksummed address of a test token. Throws if it was not in the list. */
  tokenAddress(slug: string, symbol: string): string;
};

/**
 * The well-known transaction that creates the deployer on any chain. Its signature was made up (r = s = 0x2222…), so
 * nobody has the signer's key. It has no chain id and pays 100 gwei for 100,000 gas.
 */
export const create2DeployerSetup = {
  address: create2Deployer,
  signer: '0x3fAB184622Dc19b6109349B94811493BF2a45362',
  fundingWei: 10_000_000_000_000_000n,
  rawTransaction:
    '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffff' +
    'ffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba0222222222222222222' +
    '2222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222',
} as const;

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(value, 28);
  return bytes;
};

/** ABI encoding of a string's tail: the length, then the bytes padded to whole words. */
const abiString = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([word(bytes.length), bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
};

const tokenInitCode = ({ name, symbol, decimals }: DevToken): Uint8Array => {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 255) throw new RangeError('decimals are one byte');
  const artefact = symbol === 'USDT' ? silentTestToken : testToken;
  const encodedName = abiString(name);
  return Buffer.concat([
    Buffer.from(artefact.creationCode.slice(2), 'hex'),
    word(96),
    word(96 + encodedName.length),
    word(decimals),
    encodedName,
    abiString(symbol),
  ]);
};

const pairKey = (slug: string, symbol: string): string => JSON.stringify([slug, symbol]);

const creation = (salt: Uint8Array, initCode: Uint8Array): DeploymentTransaction => ({
  to: create2Deployer,
  address: create2Address(create2Deployer, salt, initCode),
  data: `0x${Buffer.concat([salt, initCode]).toString('hex')}`,
});

/** The transaction that deploys the factory on any network that has the CREATE2 deployer. */
export const factoryDeployment: DeploymentTransaction = creation(factorySalt, factoryInitCode);

/**
 * The deployments of a dev chain: the CREATE2 deployer, the factory, and a test token per (network slug, symbol).
 * Addresses depend only on the list's entries, so every start gives the same ones.
 */
export const devChainDeployments = (tokens: readonly DevToken[]): DevChainDeployments => {
  const transactions = [factoryDeployment];
  const addresses = new Map<string, string>();
  for (const token of tokens) {
    const key = pairKey(token.slug, token.symbol);
    if (addresses.has(key)) throw new RangeError(`the test token ${token.symbol} on ${token.slug} is listed twice`);
    const salt = keccak256(Buffer.from(key, 'utf8'));
    const initCode = tokenInitCode(token);
    const deployment = creation(salt, initCode);
    addresses.set(key, deployment.address);
    transactions.push(deployment);
  }
  return {
    create2Deployer: create2DeployerSetup,
    transactions,
    factory: forwarderFactory,
    tokenAddress: (slug, symbol) => {
      const address = addresses.get(pairKey(slug, symbol));
      if (address === undefined) throw new RangeError(`no test token ${symbol} on ${slug}`);
      return address;
    },
  };
};
