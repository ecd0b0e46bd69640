import { type Abi, encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import factoryArtefact from '../../../contracts/artefacts/ForwarderFactory.json' with { type: 'json' };
import { forwarderFactory } from '../../../src/chains/evm/forwarder.ts';

/** What a transaction is to move to whom. Addresses are lower-case. */
export type Intent = { readonly to: string; readonly contract: string | null; readonly amount: bigint };

/** A signed transaction: mined again in another block, it is the same bytes. */
export type Spend = {
  readonly hash: string;
  readonly raw: string;
  readonly sender: number;
  readonly nonce: number;
  readonly intents: readonly Intent[];
  /** It fails after having moved all: nothing of it may count. */
  readonly isFailing: boolean;
};

export type Shape = 'plain' | 'contract' | 'failing' | 'sweep';

/** Forwarders of one treasury to be swept in one transaction. */
export type Sweep = { readonly treasury: string; readonly contract: string; readonly salts: readonly `0x${string}`[] };

/** What goes into one transaction. */
export type Part = { readonly intents: readonly Intent[]; readonly shape: Shape; readonly sweep?: Sweep };

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const push20 = (address: string): string => `73${address.slice(2)}`;
// The first four bytes of keccak-256 of "mint(address,uint256)".
const mint = '40c10f19';
const [mstore, gasCallPop, stop, revert] = ['52', '5af150', '00', '60006000fd'];

/** Stores the call's data at memory 0 and makes it. */
const mintCode = ({ to, contract, amount }: Intent): string => {
  const data = (mint + word(BigInt(to)) + word(amount)).padEnd(192, '0');
  const stores = [0, 32, 64].map(
    at => `7f${data.slice(at * 2, at * 2 + 64)}60${at.toString(16).padStart(2, '0')}${mstore}`,
  );
  return `${stores.join('')}60006000604460006000${push20(contract!)}${gasCallPop}`;
};

const sendCoinCode = ({ to, amount }: Intent): string =>
  `6000600060006000${`7f${word(amount)}`}${push20(to)}${gasCallPop}`;

/**
 * One transaction for many transfers: creation code that makes its calls and leaves no contract behind. So the chain
 * needs no helper contract, and native coin comes from a contract as well.
 */
const creationCode = (intents: readonly Intent[], isFailing: boolean): `0x${string}` =>
  `0x${intents.map(intent => (intent.contract === null ? sendCoinCode(intent) : mintCode(intent))).join('')}${
    isFailing ? revert : stop
  }`;

const terms = { type: 'eip1559', maxFeePerGas: 200_000_000_000n, maxPriorityFeePerGas: 1n } as const;

const hexOfAddress = (address: string): `0x${string}` => address as `0x${string}`;

const sweepOf = ({ treasury, contract, salts }: Sweep) => ({
  to: hexOfAddress(forwarderFactory),
  data: encodeFunctionData({
    abi: factoryArtefact.abi as Abi,
    functionName: 'sweep',
    args: [treasury, contract, salts, 200_000n],
  }),
  gas: 300_000n + 400_000n * BigInt(salts.length),
});

const contentOf = ({ intents, shape, sweep }: Part) => {
  if (sweep) return sweepOf(sweep);
  const [only] = intents;
  if (shape === 'plain' && only && intents.length === 1) {
    if (only.contract === null) return { to: hexOfAddress(only.to), value: only.amount, gas: 50_000n };
    const data = `0x${mint}${word(BigInt(only.to))}${word(only.amount)}` as const;
    return { to: hexOfAddress(only.contract), data, gas: 200_000n };
  }
  const value = intents.reduce((sum, { contract, amount }) => (contract === null ? sum + amount : sum), 0n);
  const gas = 200_000n + 120_000n * BigInt(intents.length);
  return { data: creationCode(intents, shape === 'failing'), value, gas };
};

export const signSpend = async (
  account: PrivateKeyAccount,
  place: { readonly chainId: number; readonly sender: number; readonly nonce: number },
  part: Part,
  hashOf: (raw: `0x${string}`) => string,
): Promise<Spend> => {
  const { chainId, sender, nonce } = place;
  const raw = await account.signTransaction({ ...terms, chainId, nonce, ...contentOf(part) });
  return { hash: hashOf(raw), raw, sender, nonce, intents: part.intents, isFailing: part.shape === 'failing' };
};

/** A transaction that moves nothing; `data` makes each of them another. */
export const signNoise = (
  account: PrivateKeyAccount,
  place: { readonly chainId: number; readonly nonce: number },
  data: Buffer,
): Promise<string> =>
  account.signTransaction({
    ...terms,
    ...place,
    to: account.address,
    data: `0x${data.toString('hex')}`,
    gas: 100_000n,
  });
