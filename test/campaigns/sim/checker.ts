import type pg from 'pg';
import type { ChainRpc } from './chainRpc.ts';
import { createChainWalk } from './chainWalk.ts';
import { type Check, checkBlocks, checkPhantoms, checkTransfers, type Ledger } from './checkChain.ts';
import { checkCoins } from './checkCoins.ts';
import { checkFinality, type FinalityOptions } from './checkFinality.ts';
import { checkEvents, checkPaths, createEventMemory, type EventMemory } from './checkHistory.ts';
import { checkLedger } from './checkLedger.ts';
import { checkCover, checkMoney, checkStanding } from './checkStanding.ts';
import { readTables } from './tables.ts';

/**
 * Independent checks of the database and the chain: nothing in here or below comes from Florin's source. It reads
 * tables with its own SQL, walks the chain with its own decoding and decides with its own rules.
 */
export type CheckerOptions = FinalityOptions & {
  readonly caip2: string;
  /** Contracts of listed tokens, lower-case. */
  readonly listed: ReadonlySet<string>;
  readonly ledger: Ledger;
};

export type Asked = {
  /** In a transaction that reads repeatably. */
  readonly client: pg.ClientBase;
  readonly rpc: ChainRpc;
  /** Nothing changes any more, and everything that counts is deep. */
  readonly isSettled: boolean;
};

export type Checker = {
  check(asked: Asked): Promise<Check[]>;
  /** The same, without remembering anything: the database was corrupted on purpose. */
  checkSpoiled(asked: Asked): Promise<Check[]>;
};

export const createChecker = (options: CheckerOptions): Checker => {
  const walk = createChainWalk();
  const memory = createEventMemory();

  const run = async ({ client, rpc, isSettled }: Asked, events: EventMemory): Promise<Check[]> => {
    const tables = await readTables(client, options.caip2);
    const { startNumber, latestNumber, haltedAt } = tables.chain;
    const walked = await walk(rpc, startNumber, latestNumber);
    return [
      checkTransfers(tables, walked, options.listed),
      checkPhantoms(tables, options.ledger),
      await checkCoins(tables, walked, rpc, isSettled),
      await checkLedger(tables, walked, options.listed, rpc, isSettled),
      checkBlocks(tables, walked),
      checkPaths(tables),
      await checkEvents(tables, events),
      checkMoney(tables),
      checkFinality(tables, events, options),
      isSettled ? checkStanding(tables, walked, options.depth) : checkCover(tables, walked),
      { what: 'the chain is not halted', problems: haltedAt === null ? [] : ['it is halted'] },
    ];
  };
  return {
    check: asked => run(asked, memory),
    checkSpoiled: asked => run(asked, { digests: new Map(memory.digests), bodies: new Map(memory.bodies) }),
  };
};
