import { PRAGUE } from '@nomicfoundation/edr';
import { type Abi, encodeFunctionData, getAddress, type Hex, keccak256, toHex } from 'viem';
import tokenArtefact from '../../contracts/artefacts/TestToken.json' with { type: 'json' };
import type { ChainStep } from '../../src/chains/driver.ts';
import { createEvmDriver } from '../../src/chains/evm/evmDriver.ts';
import { linkFault } from '../../src/chains/linkage.ts';
import type { Block, Movement, WatchedBlock } from '../../src/core/chain.ts';
import type { Log } from '../../src/core/log.ts';
import { accounts, type Receipt, startEvmNode } from './evmNode.ts';
import type { Upstream } from './faultProxy.ts';
import { placeFactory } from './placeFactory.ts';

const tokenAbi = tokenArtefact.abi as Abi;

export type Sent = {
  readonly to?: string;
  readonly data?: string;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly from?: string;
};

type RpcBlock = { readonly number: Hex; readonly hash: Hex; readonly parentHash: Hex; readonly transactions: Hex[] };

const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`;
let drawn = 0;

/**
 * A real EVM with a token that mines on demand and can go back to any block. `finalized` is a fixed number of blocks
 * below its head and never decreases.
 */
export const startTestChain = async (
  options: { chainId?: number; finalityLag?: number; hasFactory?: boolean } = {},
) => {
  const { chainId = 31_337, finalityLag = 0, hasFactory = false } = options;
  const node = await startEvmNode(PRAGUE, BigInt(chainId));
  if (hasFactory) await placeFactory(node);
  const { request } = node;
  const token = getAddress(await node.deploy(tokenAbi, tokenArtefact.creationCode as Hex, ['USD Coin', 'USDC', 6]));
  await request('evm_setAutomine', false);
  const states = new Map<number, unknown>();
  const blockAt = (tag: string | number, full = false): Promise<RpcBlock> =>
    request('eth_getBlockByNumber', typeof tag === 'number' ? hex(tag) : tag, full);
  const head = async (): Promise<number> => Number((await blockAt('latest')).number);
  const remember = async (): Promise<void> => {
    states.set(await head(), await request('evm_snapshot'));
  };
  await remember();

  /** Mines one block with these transactions. No two blocks are equal, not even empty ones at the same height. */
  const block = async (...sent: readonly Sent[]): Promise<Hex[]> => {
    const hashes: Hex[] = [];
    for (const { from = accounts[0], value = 0n, gas = 200_000n, ...call } of sent) {
      hashes.push(await request('eth_sendTransaction', { from, ...call, value: hex(value), gas: hex(gas) }));
    }
    await request('hardhat_setPrevRandao', toHex(++drawn, { size: 32 }));
    await request('evm_mine');
    await remember();
    return hashes;
  };

  let final = 0;
  const finalized = async (): Promise<number> => {
    final = Math.max(final, (await head()) - finalityLag);
    return final;
  };
  /** How a node answers. EDR calls its newest block final; here the scene decides. */
  const upstream: Upstream = async (method, params) => {
    const [tag, full] = params;
    const isTag = method === 'eth_getBlockByNumber' && (tag === 'finalized' || tag === 'safe');
    const asked = isTag ? [hex(await finalized()), full] : params;
    try {
      return { result: await request(method, ...asked) };
    } catch (error) {
      return { error: { code: -32000, message: (error as Error).message } };
    }
  };

  return {
    node,
    token,
    chainId,
    upstream,
    block,
    head,
    blockAt,
    finalized,
    async mine(count: number) {
      for (let mined = 0; mined < count; mined++) await block();
    },
    /** Forgets all blocks above a height. */
    async rewind(to: number) {
      if ((await request('evm_revert', states.get(to))) !== true) throw new Error(`no state of block ${to}`);
      await remember();
    },
    mint: (to: string, amount: bigint, contract: string = token): Sent => ({
      to: contract,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] }),
    }),
    transfer: (to: string, amount: bigint, contract: string = token): Sent => ({
      to: contract,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, amount] }),
    }),
  };
};

export type TestChain = Awaited<ReturnType<typeof startTestChain>>;

/** An address that nobody has used, by name. */
export const addressOf = (name: string): string => getAddress(`0x${keccak256(toHex(name)).slice(26)}`);

export type Told = Pick<Movement, 'key' | 'to' | 'contract' | 'amount'>;

const byKey = (a: Told, b: Told): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const transferTopic = keccak256(toHex('Transfer(address,address,uint256)'));
const topicAddress = (topic: Hex): string => getAddress(`0x${topic.slice(26)}`);

/**
 * What reached these addresses from a block on, from the receipts of every transaction. Shares no code with the driver.
 */
export const walkChain = async (
  { node, blockAt, head }: TestChain,
  known: ReadonlySet<string>,
  range: { from: number; tokens: readonly string[] },
): Promise<Told[]> => {
  const told: Told[] = [];
  for (let number = range.from; number <= (await head()); number++) {
    const { hash: blockHash, transactions } = await blockAt(number);
    for (const hash of transactions) {
      const receipt = await node.request<Receipt & { transactionIndex: Hex }>('eth_getTransactionReceipt', hash);
      const { from, to, value } = await node.request<Record<string, Hex>>('eth_getTransactionByHash', hash);
      if (receipt.status !== '0x1') continue;
      const recipient = to ? getAddress(to) : null;
      if (recipient !== null && known.has(recipient) && BigInt(value!) > 0n && from !== to) {
        const key = `${blockHash}:tx:${Number(receipt.transactionIndex)}`;
        told.push({ key, to: recipient, contract: null, amount: BigInt(value!) });
      }
      for (const log of receipt.logs as readonly (Receipt['logs'][number] & { logIndex: Hex })[]) {
        const [name, sender, receiver] = log.topics;
        const contract = getAddress(log.address);
        if (name !== transferTopic || !range.tokens.includes(contract) || BigInt(log.data) === 0n) continue;
        if (sender === receiver || !known.has(topicAddress(receiver!))) continue;
        const key = `${blockHash}:log:${Number(log.logIndex)}`;
        told.push({ key, to: topicAddress(receiver!), contract, amount: BigInt(log.data) });
      }
    }
  }
  return told.sort(byKey);
};

export type FollowerOptions = {
  readonly rpcUrls: readonly string[];
  readonly chain: TestChain;
  readonly known: readonly string[];
  readonly tokens?: readonly string[];
  /** A chain without tags, like the local one. */
  readonly isQuiet?: boolean;
  readonly cursor?: Block;
  /** How many blocks below the newest are kept. */
  readonly keep?: number;
  /** The clock for back-off times. */
  readonly nowMs?: () => number;
  readonly answerTimeoutMs?: number;
};

export type LogLine = { readonly fields: Record<string, unknown>; readonly message: string };

/**
 * Back-off times pass this much faster, so that a node is soon used again after a fault. The tests of `node` check the
 * real times.
 */
const haste = 50;
/** The chain mines on demand, so waiting for the next block only costs time. */
const betweenPollsMs = 10;

/** The driver with memory instead of a database. Steps are applied as they arrive, and must link. */
export const startFollower = (options: FollowerOptions) => {
  const { chain, isQuiet = true, keep = 256 } = options;
  const known = new Set(options.known);
  const tokens = options.tokens ?? [chain.token];
  const stored = new Map<number, WatchedBlock>();
  const taken: ChainStep[] = [];
  const logged: LogLine[] = [];
  const complaints: string[] = [];
  const stopping = new AbortController();
  let cursor: Block | null = options.cursor ?? null;
  let finalized: number | null = null;
  const note: Log['info'] = (fields, message) => void logged.push({ fields: { ...fields }, message });
  const driver = createEvmDriver({
    caip2: `eip155:${chain.chainId}`,
    chainId: chain.chainId,
    rpcUrls: options.rpcUrls,
    tokens: tokens.map(contract => ({ contract, decimals: 6 })),
    blockTimeSeconds: 0.25,
    isQuiet,
    pollMs: betweenPollsMs,
    ...(options.answerTimeoutMs === undefined ? {} : { answerTimeoutMs: options.answerTimeoutMs }),
    log: {
      debug: note,
      info: note,
      error: note,
      warn: (fields: object, message) => {
        note(fields, message);
        complaints.push((fields as { fault: string }).fault);
      },
    },
    nowMs: options.nowMs ?? (() => performance.now() * haste),
  });
  const host = {
    paymentAddresses: async (addresses: readonly string[]) => new Set(addresses.filter(address => known.has(address))),
    storedBlock: async (number: number) => stored.get(number) ?? (cursor?.number === number ? cursor : null),
    finalizedHeight: () => finalized,
    now: async () => new Date(),
  };
  const steps = driver.follow(cursor, host, stopping.signal);

  const apply = (step: ChainStep): void => {
    if (step.kind !== 'blocks') return;
    const { rollbackTo, blocks, tags } = step;
    const parent = rollbackTo ?? cursor;
    const fault = parent === null ? linkFault(blocks[0]!, blocks.slice(1)) : linkFault(parent, blocks);
    if (fault !== null) throw new Error(fault);
    for (const number of stored.keys()) if (rollbackTo && number > rollbackTo.number) stored.delete(number);
    for (const block of blocks) stored.set(block.number, block);
    cursor = blocks.at(-1)!;
    for (const number of stored.keys()) if (number < cursor.number - keep) stored.delete(number);
    if (tags.finalized !== null) finalized = Math.min(tags.finalized, cursor.number);
  };

  const next = async (): Promise<ChainStep> => {
    const { value, done } = await steps.next();
    if (done) throw new Error('the driver has stopped');
    apply(value);
    taken.push(value);
    return value;
  };

  return {
    driver,
    host,
    next,
    taken,
    complaints,
    logged,
    stored,
    /** Takes steps until one matches; the test's timeout is the limit. */
    async until(isWanted: (step: ChainStep) => boolean): Promise<ChainStep> {
      for (;;) {
        const step = await next();
        if (isWanted(step)) return step;
      }
    },
    /** Takes steps until the driver has read all that the node has now. */
    async catchUp(): Promise<Extract<ChainStep, { kind: 'idle' }>> {
      const { hash } = await chain.blockAt('latest');
      for (;;) {
        const step = await next();
        if (step.kind === 'halt') throw new Error(step.reason);
        if (step.kind === 'idle' && step.at.hash === hash && step.caughtUpAt !== null) return step;
      }
    },
    movements: (): Told[] =>
      [...stored.values()]
        .flatMap(({ movements }) => movements)
        .map(({ key, to, contract, amount }) => ({ key, to, contract, amount }))
        .sort(byKey),
    detailed: (): Movement[] => [...stored.values()].flatMap(({ movements }) => movements),
    walked: (from = 0): Promise<Told[]> => walkChain(chain, known, { from, tokens }),
    stop: () => stopping.abort(),
  };
};

export type Follower = ReturnType<typeof startFollower>;
