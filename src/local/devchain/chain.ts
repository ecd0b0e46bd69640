import { setTimeout as delay } from 'node:timers/promises';
import { type DevToken, devChainDeployments } from '../../chains/evm/deployments.ts';
import { type ChainRecord, type Journal, openJournal } from './journal.ts';
import { openProvider, payer, type RpcOutcome, type Send, succeed } from './provider.ts';
import { rawTransaction } from './rawTransaction.ts';
import { createStates } from './states.ts';

export type Chain = {
  /** Answers the outcome as JSON. */
  request(method: string, params: unknown): Promise<string>;
  /** Settles with the error when what happened could not be kept: a chain that is lost, and is to be made again. */
  readonly failed: Promise<unknown>;
};

// Two confirmations complete a payment here, and three blocks more show that its confirmations keep counting.
const emptyBlocksAfterTransaction = 5;
const longestWaitMs = 30_000;

const submits = new Set(['eth_sendTransaction', 'eth_sendRawTransaction']);
const controls = new Set(['debug_traceTransaction', 'evm_mine', 'evm_revert', 'evm_snapshot', 'hardhat_setBalance']);
const notOffered: RpcOutcome = { error: { code: -32601, message: 'This method is not offered.' } };
const isOffered = (method: string): boolean => /^(eth|net|web3)_/.test(method) || controls.has(method);

/** Told every so often how much of the journal has been gone through. */
export type OnReplay = (done: number, all: number) => void;

const progressStep = 1_000;

export type ChainOptions = {
  readonly tokens: readonly DevToken[];
  readonly emptyBlockIntervalMs: number;
  readonly journalPath: string;
  /** Of a chain that is yet to begin; one that has a journal is who it was. */
  readonly identity?: string | undefined;
};

/**
 * An EVM chain. It mines a block for every transaction, a few empty ones after it, and then rests.
 * EDR keeps its state in memory and its own mining is off: every block is made here, one at a time, and is on disk before
 * anybody can learn of it. The next start makes the same blocks again.
 */
export const createChain = async (options: ChainOptions, onReplay: OnReplay = () => {}): Promise<Chain> => {
  const { journal, records } = await openJournal(options.journalPath);
  const { ask, send } = await openProvider(await identify(journal, records, options.identity ?? null));
  await replay(send, records, onReplay);
  const states = createStates(send, journal);
  const mine = createMiner(send, journal, states.remember);
  await states.remember();
  await deploy(send, options.tokens, mine);
  const news = createNews();

  let emptyBlocksLeft = 0;
  let emptyBlockTimer: NodeJS.Timeout | undefined;
  const scheduleEmptyBlock = (): void => {
    clearTimeout(emptyBlockTimer);
    if (emptyBlocksLeft === 0) return;
    emptyBlocksLeft -= 1;
    emptyBlockTimer = setTimeout(() => void inTurn(mineEmptyBlock), options.emptyBlockIntervalMs);
  };
  const mineEmptyBlock = async (): Promise<void> => {
    await mine([]);
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
    if (method === 'evm_snapshot') states.name(outcome.result);
    if (method === 'evm_revert' && outcome.result === true) {
      await states.reverted((params as unknown[])[0]);
    }
    return outcome;
  };

  /** Mines the blocks from that transaction on anew, without it, and one more. Its sender's next ones stay valid. */
  const undo = async (hash: unknown): Promise<RpcOutcome> => {
    const gone = (await succeed(send, 'eth_getTransactionByHash', [hash])) as RpcTransaction | null;
    const from = gone === null ? null : Number(gone.blockNumber);
    const state = from === null ? undefined : states.before(from);
    if (gone === null || state === undefined) {
      return { error: { code: -32602, message: 'There is no such transaction in the last blocks.' } };
    }
    const { number } = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    const blocks: string[][] = [];
    for (let at = Number(gone.blockNumber); at <= Number(number); at++) {
      const block = (await succeed(send, 'eth_getBlockByNumber', [`0x${at.toString(16)}`, true])) as MinedBlock;
      blocks.push(block.transactions.map(rawTransaction));
    }
    await succeed(send, 'evm_revert', [state]);
    await states.reverted(state);
    const removed = rawTransaction(gone);
    for (const transactions of blocks) {
      for (const raw of transactions) {
        if (raw !== removed) await succeed(send, 'eth_sendRawTransaction', [raw]);
        else await succeed(send, 'eth_sendTransaction', [{ from: gone.from, to: gone.from, nonce: gone.nonce }]);
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
    const turn = lastTurn.then(work).finally(news.tell);
    lastTurn = turn.catch(() => undefined);
    return turn;
  };

  const waitForBlock = async (params: unknown): Promise<RpcOutcome> => {
    const [known, timeoutMs] = (Array.isArray(params) ? params : []) as [unknown, unknown];
    const bound = Math.min(Number(timeoutMs) || longestWaitMs, longestWaitMs);
    const endMs = performance.now() + bound;
    for (;;) {
      const told = news.next();
      await lastTurn;
      const { hash } = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as { hash: string };
      const leftMs = endMs - performance.now();
      if (hash !== known || leftMs <= 0) return { result: hash };
      await Promise.race([told, delay(leftMs, undefined, { ref: false })]);
    }
  };

  /** Whatever this chain does itself; null for a question to the EVM. */
  const serve = (method: string, params: unknown): Promise<RpcOutcome> | null => {
    if (method === 'florin_waitForBlock') return waitForBlock(params);
    if (method === 'florin_undo') return inTurn(() => undo(Array.isArray(params) ? params[0] : null));
    if (!isOffered(method)) return Promise.resolve(notOffered);
    if (submits.has(method) || controls.has(method)) return inTurn(() => perform(method, params));
    return null;
  };

  return {
    request: async (method, params) => {
      const served = serve(method, params);
      if (served !== null) return JSON.stringify(await served);
      // A block that is being made is nobody's to see before it is on disk.
      await lastTurn;
      return await ask(method, params);
    },
    failed: journal.failed,
  };
};

/** Lets many wait for the same thing to happen once more. */
const createNews = () => {
  let pending = Promise.withResolvers<void>();
  return {
    next: () => pending.promise,
    tell: () => {
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

/** The time of the world, unless somebody asks for another. EDR's own clock may be a second behind it. */
const timestampOf = (asked: unknown, parent: MinedBlock): number =>
  Math.max(asked === undefined ? Math.floor(Date.now() / 1000) : Number(asked), Number(parent.timestamp));

const createMiner =
  (send: Send, journal: Journal, remember: () => Promise<void>): Mine =>
  async params => {
    const parent = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    await succeed(send, 'evm_mine', [timestampOf(params[0], parent)]);
    const block = (await succeed(send, 'eth_getBlockByNumber', ['latest', true])) as MinedBlock;
    const transactions = block.transactions.map(rawTransaction);
    const { hash, timestamp, mixHash: prevRandao } = block;
    await journal.append([{ kind: 'block', hash, timestamp, prevRandao, transactions }]);
    await remember();
  };

/** Who the chain is, from its journal's first record on. */
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

/** Makes the recorded blocks again, and makes sure that they are the same. */
const replay = async (send: Send, records: readonly ChainRecord[], onReplay: OnReplay): Promise<void> => {
  for (const [at, record] of records.entries()) {
    if (at % progressStep === 0) onReplay(at, records.length);
    if (record.kind === 'genesis') continue;
    if (record.kind === 'balance') {
      await succeed(send, 'hardhat_setBalance', [record.address, record.value]);
      continue;
    }
    await succeed(send, 'hardhat_setPrevRandao', [record.prevRandao]);
    for (const raw of record.transactions) await succeed(send, 'eth_sendRawTransaction', [raw]);
    await succeed(send, 'evm_mine', [record.timestamp]);
    const block = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    if (block.hash !== record.hash) throw new Error('the journal of the dev chain does not give the same blocks again');
  }
};

/** Whatever of the deployments is not there yet: all of them at first, later those of tokens that are new. */
const deploy = async (send: Send, tokens: readonly DevToken[], mine: Mine): Promise<void> => {
  const { create2Deployer, transactions } = devChainDeployments(tokens);
  const isDeployed = async (address: string): Promise<boolean> =>
    (await succeed(send, 'eth_getCode', [address, 'latest'])) !== '0x';
  const run = async (submit: () => Promise<unknown>): Promise<void> => {
    const hash = await submit();
    const head = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
    await mine([Number(head.timestamp) + 1]);
    const receipt = await succeed(send, 'eth_getTransactionReceipt', [hash]);
    if ((receipt as { status: string } | null)?.status !== '0x1') {
      throw new Error('a deployment of the dev chain failed');
    }
  };
  if (!(await isDeployed(create2Deployer.address))) {
    await run(() => succeed(send, 'eth_sendRawTransaction', [create2Deployer.rawTransaction]));
  }
  for (const { to, data, address } of transactions) {
    if (await isDeployed(address)) continue;
    await run(() => succeed(send, 'eth_sendTransaction', [{ from: payer.address, to, data }]));
  }
};
