import { onTestFinished } from 'vitest';
import { createEvmDriver } from '../../src/chains/evm/evmDriver.ts';
import type { Block } from '../../src/core/chain.ts';
import type { Log } from '../../src/core/log.ts';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import type { Context } from '../../src/engine/context.ts';
import { storedBlock } from '../../src/storage/chain/blocks.ts';
import { type Lease, takeLease } from '../../src/storage/chain/chains.ts';
import { knownAddresses } from '../../src/storage/chain/transfers.ts';
import { readNow } from '../../src/storage/databaseClock.ts';
import { type Written, writePayments } from '../api/listingScene.ts';
import { startFaultProxy, type Upstream } from '../chains/faultProxy.ts';
import { startTestChain } from '../chains/followScene.ts';
import type { LogLine, QuietScene } from './quietScene.ts';

export type Transfer = {
  readonly blockNumber: number;
  readonly amount: string;
  readonly verified: boolean;
  readonly isCoin: boolean;
};

/** A node in front of another one that counts calls which read many balances. */
export const countBalanceReads = () => {
  let calls = 0;
  const counting =
    (upstream: Upstream): Upstream =>
    (method, params) => {
      if (method === 'eth_call' && (params[0] as { to?: string }).to === undefined) calls++;
      return upstream(method, params);
    };
  return { counting, calls: (): number => calls };
};

let chains = 0;

/**
 * A real chain that mines on demand, nodes in front of it, and a database with its lease, until the test is over. Tests do
 * the work of its watcher explicitly.
 */
export const startWatchedChain = async (
  quiet: QuietScene,
  options: {
    /** How each node answers; by default one honest node. */
    readonly nodes?: readonly ((upstream: Upstream) => Upstream)[];
    readonly answerTimeoutMs?: number;
  } = {},
) => {
  const { nodes = [upstream => upstream], answerTimeoutMs } = options;
  const chainId = 700_000 + chains++;
  const caip2 = `eip155:${chainId}`;
  const chain = await startTestChain({ chainId });
  const proxies = await Promise.all(nodes.map(alter => startFaultProxy(alter(chain.upstream), { seed: caip2 })));
  const logged: LogLine[] = [];
  const note: Log['error'] = (fields, message) => void logged.push({ fields: { ...fields }, message });
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const context: Context = { ...quiet.context, log };
  const { db } = context;
  const driver = createEvmDriver({
    caip2,
    chainId,
    rpcUrls: proxies.map(({ url }) => url),
    tokens: [{ contract: chain.token, decimals: 6 }],
    blockTimeSeconds: 0.25,
    isQuiet: true,
    pollMs: 10,
    ...(answerTimeoutMs === undefined ? {} : { answerTimeoutMs }),
    log,
    nowMs: () => performance.now(),
  });
  const { fence } = (await takeLease(db, { caip2, holder: 'test', seconds: 3_600 }))!;
  const lease: Lease = { caip2, fence };
  const stopping = new AbortController();
  const { signal } = stopping;
  onTestFinished(() => {
    stopping.abort();
    for (const proxy of proxies) proxy.close();
  });
  const overlooked = new Set<string>();
  const host = {
    paymentAddresses: (addresses: readonly string[]) =>
      knownAddresses(
        db,
        addresses.filter(address => !overlooked.has(address)),
      ),
    storedBlock: (number: number) => storedBlock(db, context.vault, caip2, number),
    now: () => readNow(db),
    finalizedHeight: () => null,
  };
  const steps = driver.follow(null, host, signal);

  return {
    chain,
    caip2,
    proxies,
    driver,
    context,
    lease,
    signal,
    host,
    /** Addresses whose transfers are left out while they are in here, as if the node had not reported them. */
    overlooked,
    logged,
    said: (message: string): LogLine[] => logged.filter(line => line.message === message),
    /** Reads the chain as the watcher does. Returns its head, and when the poll began that found it. */
    async read(): Promise<{ head: Block; begunAt: Date }> {
      const { hash } = await chain.blockAt('latest');
      for (;;) {
        const { value: step, done } = await steps.next();
        if (done || step.kind === 'halt') throw new Error('the driver has stopped');
        if (step.kind === 'blocks') await applyBlocks(context, lease, step);
        else if (step.at.hash === hash && step.caughtUpAt !== null) {
          return { head: step.at, begunAt: step.caughtUpAt };
        }
      }
    },
    /** Open payments on this chain, in native coin or in its token. */
    async payments(count: number, currency: 'ETH' | 'USDC' = 'ETH'): Promise<Written[]> {
      const contract = currency === 'ETH' ? null : chain.token;
      const one = { createdMs: Date.now(), currency, network: 'base', status: 'pending', contract, caip2 } as const;
      return writePayments(
        quiet.scene,
        await quiet.scene.account(),
        Array.from({ length: count }, () => one),
      );
    },
    /** The canonical transfers of a payment. */
    transfers: ({ id }: Written): Promise<Transfer[]> =>
      quiet.read<Transfer>(`select block_number::float8 as "blockNumber", amount::text, verified, contract is null as "isCoin"
        from transfers where payment_id = '${id}' and canonical order by block_number, key`),
  };
};
