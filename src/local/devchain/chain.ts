import { setTimeout as delay } from 'node:timers/promises';
import { type DevToken, devChainDeployments } from '../../chains/evm/deployments.ts';
import { type ChainRecord, type Journal, openJournal } from './journal.ts';
import { openProvider, payer, type RpcOutcome, type Send, sendOrThrow } from './provider.ts';
import { rawTransaction } from './rawTransaction.ts';
import { createSnapshots } from './snapshots.ts';

export type Chain = {
  /** Returns the outcome as JSON. */
  request(method: string, params: unknown): Promise<string>;
  /** Resolves with the error when the journal could not be written. The chain must then be restarted from it. */
  readonly failed: Promise<unknown>;
};

// Two confirmations complete a payment here; three more blocks show that confirmations keep counting.
const emptyBlocksAfterTransaction = 5;
const longestWaitMs = 30_000;

const submits = new Set(['eth_sendTransaction', 'eth_sendRawTransaction']);
const controls = new Set(['debug_traceTransaction', 'evm_mine', 'evm_revert', 'evm_snapshot', 'hardhat_setBalance']);
const notSupported: RpcOutcome = { error: { code: -32601, message: 'This method is not supported.' } };
const isSupported = (method: string): boolean => /^(eth|net|web3)_/.test(method) || controls.has(method);

/** Called now and then with the number of blocks replayed. */
export type OnReplay = (done: number, all: number) => void;

const progressStep = 100;

export type ChainOptions = {
  readonly tokens: readonly DevToken[];
  readonly emptyBlockIntervalMs: number;
  readonly journalPath: string;
  /** Used for a new chain only; a chain with a journal keeps its identity. */
  readonly identity?: string | undefined;
};

/**
 * An EVM chain. It mines a block for every transaction, a few empty blocks after it, and then rests. EDR keeps its
 * state in memory, and its own mining is off: every block is made here, one at a time, and is on disk before anybody
 * can read it. The next start replays the same blocks.
 */
export const createChain = async (options: ChainOptions, onReplay: OnReplay = () => {}): Promise<Chain> => {
  const { journal, records } = await openJournal(options.journalPath);
  const { ask, send } = await openProvider(await identify(journal, records, options.identity ?? null));
  await replay(send, records, onReplay);
  const snapshots = createSnapshots(send, journal);
  const mine = createMiner(send, journal, snapshots.take);
  await snapshots.take();
  await deploy(send, options.tokens, mine);
  const blockSignal = createSignal();

  let emptyBlocksLeft = 0;
  /** From the start of the timer until its block is mined. It may wait behind a transaction, which must not add another. */
  let isEmptyBlockDue = false;
  const scheduleEmptyBlock = (): void => {
    if (isEmptyBlockDue || emptyBlocksLeft === 0) return;
    isEmptyBlockDue = true;
    setTimeout(() => void inTurn(mineEmptyBlock), options.emptyBlockIntervalMs);
  };
  const mineEmptyBlock = async (): Promise<void> => {
    emptyBlocksLeft -= 1;
    await mine([]).finally(() => {
      isEmptyBlockDue = false;
    });
    scheduleEmptyBlock();
  };

  const perform = async (method: string, params: unknown): Promise<RpcOutcome> => {
    if (method === 'evm_mine') {
      await mine(Array.isArray(params) ? params : []);
      return { result: '0x0' };
    }
    const outcome = await send(method, params);
    if ('error' in outcome) return outcome;
    if (submits.has(method)) {
      await mine([]);
      emptyBlocksLeft = emptyBlocksAfterTransaction;
      scheduleEmptyBlock();
    }
    if (method === 'hardhat_setBalance') {
      const [address, value] = params as [string, string];
      await journal.append([{ kind: 'balance', address, value }]);
    }
    if (method === 'evm_snapshot') snapshots.register(outcome.result);
    if (method === 'evm_revert' && outcome.result === true) {
      await snapshots.reverted((params as unknown[])[0]);
    }
    return outcome;
  };

  /**
   * Replaces the blocks from that transaction on by blocks without it, and mines one more. An empty transaction takes
   * its nonce, so that its sender's later transactions stay valid.
   */
  const undo = async (hash: unknown): Promise<RpcOutcome> => {
    const gone = (await sendOrThrow(send, 'eth_getTransactionByHash', [hash])) as RpcTransaction | null;
    const from = gone === null ? null : Number(gone.blockNumber);
    const snapshot = from === null ? undefined : snapshots.before(from);
    if (gone === null || snapshot === undefined) {
      return { error: { code: -32602, message: 'There is no such transaction in the recent blocks.' } };
    }
    const { number } = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    const blocks: string[][] = [];
    for (let at = Number(gone.blockNumber); at <= Number(number); at++) {
      const block = (await sendOrThrow(send, 'eth_getBlockByNumber', [`0x${at.toString(16)}`, true])) as MinedBlock;
      blocks.push(block.transactions.map(rawTransaction));
    }
    await sendOrThrow(send, 'evm_revert', [snapshot]);
    await snapshots.reverted(snapshot);
    const removed = rawTransaction(gone);
    for (const transactions of blocks) {
      for (const raw of transactions) {
        if (raw !== removed) await sendOrThrow(send, 'eth_sendRawTransaction', [raw]);
        else await sendOrThrow(send, 'eth_sendTransaction', [{ from: gone.from, to: gone.from, nonce: gone.nonce }]);
      }
      await mine([]);
    }
    await mine([]);
    emptyBlocksLeft = emptyBlocksAfterTransaction;
    scheduleEmptyBlock();
    return { result: true };
  };

  let lastTurn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = lastTurn.then(work).finally(blockSignal.notify);
    lastTurn = turn.catch(() => undefined);
    return turn;
  };

  const waitForBlock = async (params: unknown): Promise<RpcOutcome> => {
    const [known, timeoutMs] = (Array.isArray(params) ? params : []) as [unknown, unknown];
    const bound = Math.min(Number(timeoutMs) || longestWaitMs, longestWaitMs);
    const endMs = performance.now() + bound;
    for (;;) {
      const mined = blockSignal.next();
      await lastTurn;
      const { hash } = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as { hash: string };
      const leftMs = endMs - performance.now();
      if (hash !== known || leftMs <= 0) return { result: hash };
      await Promise.race([mined, delay(leftMs, undefined, { ref: false })]);
    }
  };

  /** Handles what this chain does itself; null for a call that EDR answers. */
  const serve = (method: string, params: unknown): Promise<RpcOutcome> | null => {
    if (method === 'florin_waitForBlock') return waitForBlock(params);
    if (method === 'florin_undo') return inTurn(() => undo(Array.isArray(params) ? params[0] : null));
    if (!isSupported(method)) return Promise.resolve(notSupported);
    if (submits.has(method) || controls.has(method)) return inTurn(() => perform(method, params));
    return null;
  };

  return {
    request: async (method, params) => {
      const served = serve(method, params);
      if (served !== null) return JSON.stringify(await served);
      // A block must not be visible before it is on disk.
      await lastTurn;
      return await ask(method, params);
    },
    failed: journal.failed,
  };
};

/** Lets many callers wait for the next notification. */
const createSignal = () => {
  let pending = Promise.withResolvers<void>();
  return {
    next: () => pending.promise,
    notify: () => {
      pending.resolve();
      pending = Promise.withResolvers<void>();
    },
  };
};

type RpcTransaction = { readonly blockNumber: string; readonly from: string; readonly nonce: string };

type MinedBlock = {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly mixHash: string;
  readonly transactions: readonly unknown[];
};
type Mine = (params: readonly unknown[]) => Promise<void>;

/** The wall clock, unless a time is given. EDR's own clock may be a second behind it. */
const timestampOf = (asked: unknown, parent: MinedBlock): number =>
  Math.max(asked === undefined ? Math.floor(Date.now() / 1000) : Number(asked), Number(parent.timestamp));

const createMiner =
  (send: Send, journal: Journal, takeSnapshot: () => Promise<void>): Mine =>
  async params => {
    const parent = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    await sendOrThrow(send, 'evm_mine', [timestampOf(params[0], parent)]);
    const block = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', true])) as MinedBlock;
    const transactions = block.transactions.map(rawTransaction);
    const { hash, timestamp, mixHash: prevRandao } = block;
    await journal.append([{ kind: 'block', hash, timestamp, prevRandao, transactions }]);
    await takeSnapshot();
  };

/** The chain's identity: the journal's first record, or the wanted one for a new chain. */
const identify = async (
  journal: Journal,
  records: readonly ChainRecord[],
  wanted: string | null,
): Promise<string | null> => {
  const [first] = records;
  if (first !== undefined) return first.kind === 'genesis' ? first.identity : null;
  if (wanted !== null) await journal.append([{ kind: 'genesis', identity: wanted }]);
  return wanted;
};

/** Replays the recorded blocks and checks that they are the same. */
const replay = async (send: Send, records: readonly ChainRecord[], onReplay: OnReplay): Promise<void> => {
  const all = records.filter(({ kind }) => kind === 'block').length;
  let done = 0;
  for (const record of records) {
    if (record.kind === 'genesis') continue;
    if (record.kind === 'balance') {
      await sendOrThrow(send, 'hardhat_setBalance', [record.address, record.value]);
      continue;
    }
    if (done % progressStep === 0) onReplay(done, all);
    done += 1;
    await sendOrThrow(send, 'hardhat_setPrevRandao', [record.prevRandao]);
    for (const raw of record.transactions) await sendOrThrow(send, 'eth_sendRawTransaction', [raw]);
    await sendOrThrow(send, 'evm_mine', [record.timestamp]);
    const block = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    if (block.hash !== record.hash) throw new Error('devchain.journal does not reproduce its blocks: restore it');
  }
};

/** Deploys the contracts that are missing: all of them at first, later those of new tokens. */
const deploy = async (send: Send, tokens: readonly DevToken[], mine: Mine): Promise<void> => {
  const { create2Deployer, transactions } = devChainDeployments(tokens);
  const isDeployed = async (address: string): Promise<boolean> =>
    (await sendOrThrow(send, 'eth_getCode', [address, 'latest'])) !== '0x';
  const run = async (submit: () => Promise<unknown>): Promise<void> => {
    const hash = await submit();
    const head = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    await mine([Number(head.timestamp) + 1]);
    const receipt = await sendOrThrow(send, 'eth_getTransactionReceipt', [hash]);
    if ((receipt as { status: string } | null)?.status !== '0x1') {
      throw new Error('a contract could not be deployed on the dev chain');
    }
  };
  if (!(await isDeployed(create2Deployer.address))) {
    await run(() => sendOrThrow(send, 'eth_sendRawTransaction', [create2Deployer.rawTransaction]));
  }
  for (const { to, data, address } of transactions) {
    if (await isDeployed(address)) continue;
    await run(() => sendOrThrow(send, 'eth_sendTransaction', [{ from: payer.address, to, data }]));
  }
};
