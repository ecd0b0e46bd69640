import { type Hex, keccak256, toHex, toRlp } from 'viem';
import type { Upstream } from './faultProxy.ts';

type Fields = Readonly<Record<string, Hex>>;

/** The header fields of the test chain, in the order in which they are hashed. Shares no code with the driver. */
const headerFields = `parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number
  gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas
  parentBeaconBlockRoot requestsHash`.split(/\s+/);
const numbers = new Set(
  'difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas'.split(' '),
);

const encode = (name: string, value: Hex): Hex => {
  if (!numbers.has(name)) return value;
  const digits = BigInt(value).toString(16);
  return digits === '0' ? '0x' : `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`;
};

export const blockHashOf = (block: Fields): Hex =>
  keccak256(toRlp(headerFields.map(name => encode(name, block[name]!))));

/**
 * The same chain with other blocks above a height, like a node on another branch: they have the same transactions, and
 * no other node has them.
 */
export const forkOf = (upstream: Upstream, branch: { readonly above: number; readonly name: string }): Upstream => {
  const honest = new Map<string, string>();
  const forked = new Map<string, Hex>();
  const markOf = (hash: string): Hex => keccak256(toHex(`${branch.name} ${hash}`));

  /** The hash on this branch. It depends on the parent's. */
  const hashOn = async (wanted: Hex): Promise<Hex> => {
    const below: Fields[] = [];
    let hash = wanted;
    while (!forked.has(hash)) {
      const outcome = await upstream('eth_getBlockByHash', [hash, false]);
      if ('error' in outcome || outcome.result === null) throw new Error(`no block ${hash}`);
      const block = outcome.result as Fields;
      if (Number(block.number) <= branch.above) break;
      below.push(block);
      hash = block.parentHash!;
    }
    let parentHash = forked.get(hash) ?? hash;
    for (const block of below.toReversed()) {
      parentHash = blockHashOf({ ...block, parentHash, mixHash: markOf(block.hash!) });
      forked.set(block.hash!, parentHash);
      honest.set(parentHash, block.hash!);
    }
    return parentHash;
  };

  const rewrite = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(rewrite));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(async ([name, inner]) => [name, await rewrite(inner)] as const);
    const fields = Object.fromEntries(await Promise.all(entries)) as Record<string, Hex>;
    if (fields.blockHash) return { ...fields, blockHash: await hashOn(fields.blockHash) };
    const { hash, parentHash, number } = fields;
    if (!hash || !parentHash || Number(number) <= branch.above) return fields;
    return { ...fields, hash: await hashOn(hash), parentHash: await hashOn(parentHash), mixHash: markOf(hash) };
  };
  const unmask = (value: unknown): unknown => {
    if (typeof value === 'string') return honest.get(value) ?? value;
    if (Array.isArray(value)) return value.map(unmask);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unmask(inner)]));
  };
  return async (method, params) => {
    const outcome = await upstream(method, unmask(params) as readonly unknown[]);
    return 'error' in outcome ? outcome : { result: await rewrite(outcome.result) };
  };
};

/**
 * The same chain after a fork that nobody knows: the blocks above a height have a field that is new, and their hashes
 * cover more than the fields that the node sends.
 */
export const inUnknownFormat =
  (upstream: Upstream, above: () => number): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (!method.startsWith('eth_getBlockBy') || 'error' in outcome || outcome.result === null) return outcome;
    const { withdrawalsRoot, ...block } = outcome.result as Fields;
    return Number(block.number) <= above() ? outcome : { result: { ...block, futureRoot: withdrawalsRoot } };
  };
