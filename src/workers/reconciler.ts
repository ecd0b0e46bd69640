import type { DriverHost } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { readAgain } from '../storage/addressChecks.ts';
import { readChains } from '../storage/chains.ts';
import type { Difference } from '../storage/differences.ts';
import {
  advanceRound,
  type ComparedForwarder,
  nextForwarders,
  readReconciliation,
  recordedBalances,
  resolveAgreeing,
  startRound,
} from '../storage/reconciliation.ts';
import type { ChainSources } from './chainSources.ts';
import { readCoinPage } from './coinPage.ts';
import { explainSurplus } from './explainSurplus.ts';
import { reportDifferences } from './reportDifferences.ts';

/** One turn compares up to 1,000 payments, and a node reads 500 balances per call: a million take 4.2 hours. */
export const comparedPerTurn = 1_000;
const intervalMs = 15_000;
/** The shortest time from the start of one round to the start of the next. */
const roundSeconds = 3_600;
/** Suspected differences that wait for their block to become final. */
const maxSuspected = 1_000;

/** A forwarder and a token. */
type Holder = { readonly forwarder: ComparedForwarder; readonly contract: string | null };
type Read = Holder & { readonly balance: bigint };
/** A balance that differs from the records, as enough nodes report it at a block. */
type Suspect = Read & { readonly block: Pick<Block, 'number' | 'hash'> };

const nameOf = ({ forwarder, contract }: Holder): string => `${forwarder.id} ${contract ?? ''}`;

/**
 * Compares what forwarders hold with what the records say, address by address, in rounds. Missed transfers are searched
 * for and credited as if they had just been read. A difference that stays is reported once its block is final: as the
 * chain says, or `deepestReorg` blocks below the newest one.
 */
export const createReconciler = (
  sources: ChainSources,
  deepestReorg: number,
  clock: { now(): number } = performance,
) => {
  const { context, driver, lease } = sources;
  const { db, log } = context;
  const { caip2 } = lease;
  let lastTurnMs = clock.now();
  let suspected: readonly Suspect[] = [];

  /** The forwarders with each token to compare, and what the records say up to a block. */
  const recorded = async (forwarders: readonly ComparedForwarder[], upTo: number) => {
    const byId = new Map(forwarders.map(forwarder => [forwarder.id, forwarder]));
    const held = new Map<string, bigint>();
    const holders = new Map<string, Holder>();
    const add = (holder: Holder): string => {
      const name = nameOf(holder);
      holders.set(name, holder);
      return name;
    };
    for (const forwarder of forwarders) {
      for (const contract of new Set([null, forwarder.contract])) add({ forwarder, contract });
    }
    for (const row of await recordedBalances(db, caip2, forwarders, upTo)) {
      held.set(add({ forwarder: byId.get(row.id)!, contract: row.contract }), BigInt(row.held));
    }
    return { holders: [...holders.values()], heldBy: (holder: Holder): bigint => held.get(nameOf(holder)) ?? 0n };
  };

  /** The balances of holders at a block. Null if they cannot be read now. */
  const read = async (
    holders: readonly Holder[],
    block: Pick<Block, 'hash'>,
    nodes: 'one' | 'lowest' | 'highest',
    signal: AbortSignal,
  ): Promise<Read[] | null> => {
    const all: Read[] = [];
    for (const [token, some] of Map.groupBy(holders, ({ contract }) => contract)) {
      const question = { token, holders: some.map(({ forwarder }) => forwarder.address), block };
      const balances = await driver.balances(question, nodes, signal);
      if (balances === null) return null;
      all.push(...some.map(holder => ({ ...holder, balance: balances.get(holder.forwarder.address)! })));
    }
    return all;
  };

  /** Searches for transfers that explain why addresses hold more than recorded. False if nodes do not answer. */
  const explain = async (more: readonly Read[], block: Block, host: DriverHost, signal: AbortSignal) => {
    for (const [token, some] of Map.groupBy(more, ({ contract }) => contract)) {
      const ids = some.map(({ forwarder }) => forwarder.id);
      const payments = await readAgain(db, caip2, ids);
      if (token === null) {
        if ((await readCoinPage(sources, payments, block, 'one', signal)) === null) return false;
      } else if (!(await explainSurplus(sources, host, token, payments, block.number, signal))) return false;
    }
    return true;
  };

  /** Reads those that differ again, with as many nodes as must agree. Null if they cannot be read now. */
  const confirm = async (
    forwarders: readonly ComparedForwarder[],
    block: Block,
    signal: AbortSignal,
  ): Promise<readonly Suspect[] | null> => {
    const { holders, heldBy } = await recorded(forwarders, block.number);
    const lowest = await read(holders, block, 'lowest', signal);
    const highest = await read(holders, block, 'highest', signal);
    if (lowest === null || highest === null) return null;
    return lowest.flatMap((low, at) => {
      const [held, high] = [heldBy(low), highest[at]!];
      if (low.balance > held) return [{ ...low, block }];
      return high.balance < held ? [{ ...high, block }] : [];
    });
  };

  /** Compares one page at the newest block. Returns false if the balances cannot be read now. */
  const compare = async (
    forwarders: readonly ComparedForwarder[],
    block: Block,
    host: DriverHost,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { holders, heldBy } = await recorded(forwarders, block.number);
    const balances = await read(holders, block, 'one', signal);
    if (balances === null) return false;
    const more = balances.filter(each => each.balance > heldBy(each));
    if (more.length > 0 && !(await explain(more, block, host, signal))) return false;
    const differ = new Set(balances.filter(each => each.balance !== heldBy(each)).map(({ forwarder }) => forwarder));
    const doubtful = forwarders.filter(forwarder => forwarder.isOpen || differ.has(forwarder));
    if (doubtful.length === 0) return true;
    const left = await confirm(doubtful, block, signal);
    if (left === null) return false;
    const names = new Set(left.map(nameOf));
    const kept = suspected.filter(suspect => !names.has(nameOf(suspect)));
    suspected = [...kept, ...left].slice(-maxSuspected);
    const ids = new Set(left.map(({ forwarder }) => forwarder.id));
    const agreeing = doubtful.filter(({ id, isOpen }) => isOpen && !ids.has(id)).map(({ id }) => id);
    await resolveAgreeing(db, lease, agreeing);
    return true;
  };

  /** The difference that is left of a suspected one, now that its block is final; null if none is. */
  const settle = async (suspect: Suspect): Promise<Difference | null> => {
    const { forwarder: key, contract, balance, block } = suspect;
    const { heldBy } = await recorded([key], block.number);
    const amount = balance - heldBy(suspect);
    return amount === 0n ? null : { key, contract, amount, blockNumber: block.number };
  };

  /** Reports suspected differences whose block is final and still on the chain. */
  const report = async (signal: AbortSignal): Promise<void> => {
    if (suspected.length === 0) return;
    const [chain] = await readChains(db, [caip2]);
    const final = chain!.finalizedNumber ?? (chain!.latestNumber ?? 0) - deepestReorg;
    const ready = suspected.filter(({ block }) => block.number <= final);
    for (const [hash, some] of Map.groupBy(ready, ({ block }) => block.hash)) {
      const isCanonical = (await driver.header(some[0]!.block.number, signal))?.hash === hash;
      const left: Difference[] = [];
      for (const suspect of isCanonical ? some : []) left.push(...[(await settle(suspect)) ?? []].flat());
      await reportDifferences(context, caip2, left);
      suspected = suspected.filter(({ block }) => block.hash !== hash);
    }
  };

  /** Returns whether an operator waits for the rest of the round. */
  const turn = async (block: Block, host: DriverHost, signal: AbortSignal): Promise<boolean> => {
    await report(signal);
    const state = await readReconciliation(db, caip2);
    const isRequested = state?.isRequested ?? false;
    const isBetween = state === null || state.after === '';
    if (isBetween) {
      if (!isRequested && (state?.ageSeconds ?? roundSeconds) < roundSeconds) return false;
      await startRound(db, lease);
    }
    const { forwarders, after } = await nextForwarders(db, caip2, state?.after ?? '', comparedPerTurn);
    if (forwarders.length > 0 && !(await compare(forwarders, block, host, signal))) {
      log.warn({ caip2 }, 'balances could not be compared with the ledger');
      return false;
    }
    await report(signal);
    await advanceRound(db, lease, forwarders.length, after);
    return isRequested && after !== null;
  };

  /** `block` is the newest block, up to which everything is recorded. */
  return async (block: Block, host: DriverHost, signal: AbortSignal): Promise<void> => {
    if (clock.now() - lastTurnMs < intervalMs) return;
    lastTurnMs = clock.now();
    try {
      while (!signal.aborted && (await turn(block, host, signal)));
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      log.warn({ caip2, fault: error.message }, 'balances could not be compared with the ledger');
    }
  };
};
