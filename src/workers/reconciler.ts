import type { BalanceSources, DriverHost } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { mostUnits } from '../core/money.ts';
import { readAgain } from '../storage/chain/addressChecks.ts';
import { readChains } from '../storage/chain/chains.ts';
import type { Difference } from '../storage/settlement/differences.ts';
import {
  advanceRound,
  type ComparedForwarder,
  forgetSuspected,
  nextForwarders,
  readReconciliation,
  recordedBalances,
  resolveAgreeing,
  type SuspectedDifference,
  startRound,
  suspectDifferences,
  suspectedUpTo,
} from '../storage/settlement/reconciliation.ts';
import type { ChainSources } from './chainSources.ts';
import { readCoinPage } from './coinPage.ts';
import { explainSurplus } from './explainSurplus.ts';
import { reportDifferences } from './reportDifferences.ts';

/** One turn compares up to 1,000 payments, and a node reads 500 balances per call: a million take 4.2 hours. */
const comparedPerTurn = 1_000;
const intervalMs = 15_000;
/** The shortest time from the start of one round to the start of the next. */
const roundSeconds = 3_600;
/** How long a round that an operator asked for may keep the chain from being read. */
const requestedMs = 1_000;
/** Suspected differences decided in one turn. */
const suspectsPerTurn = 1_000;

/** A forwarder and a token. */
type Holder = { readonly forwarder: ComparedForwarder; readonly contract: string | null };
type Read = Holder & { readonly balance: bigint };

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
  const { db, vault, log } = context;
  const { caip2 } = lease;
  const isListed = new Set(driver.contracts);
  let nextTurnMs = clock.now() + intervalMs;

  /** The forwarders with each listed token to compare, and what the records say up to a block. */
  const recorded = async (forwarders: readonly ComparedForwarder[], upTo: number) => {
    const byId = new Map(forwarders.map(forwarder => [forwarder.id, forwarder]));
    const held = new Map<string, bigint>();
    const holders = new Map<string, Holder>();
    const add = (holder: Holder): void => {
      if (holder.contract === null || isListed.has(holder.contract)) holders.set(nameOf(holder), holder);
    };
    for (const forwarder of forwarders) {
      for (const contract of new Set([null, forwarder.contract])) add({ forwarder, contract });
    }
    for (const row of await recordedBalances(db, caip2, forwarders, upTo)) {
      const holder = { forwarder: byId.get(row.id)!, contract: row.contract };
      add(holder);
      held.set(nameOf(holder), BigInt(row.held));
    }
    return { holders: [...holders.values()], heldBy: (holder: Holder): bigint => held.get(nameOf(holder)) ?? 0n };
  };

  /** The balances of holders at a block. Null if they cannot be read now. A token that does not answer is left out. */
  const read = async (
    holders: readonly Holder[],
    block: Pick<Block, 'hash'>,
    nodes: BalanceSources,
    signal: AbortSignal,
  ): Promise<Map<string, Read> | null> => {
    const all = new Map<string, Read>();
    for (const [token, some] of Map.groupBy(holders, ({ contract }) => contract)) {
      const question = { token, holders: some.map(({ forwarder }) => forwarder.address), block };
      const balances = await driver.balances(question, nodes, signal);
      if (balances === null && token === null) return null;
      if (balances === null) log.warn({ caip2, contract: token }, 'the balances of a token cannot be compared');
      for (const holder of balances === null ? [] : some) {
        const balance = balances!.get(holder.forwarder.address)!;
        all.set(nameOf(holder), { ...holder, balance: balance > mostUnits ? mostUnits : balance });
      }
    }
    return all;
  };

  /**
   * Searches for transfers that explain why addresses hold more than recorded. If nodes do not answer, for example because
   * they have dropped old blocks, what is left is reported, and searched for again in the next round.
   */
  const explain = async (more: readonly Read[], block: Block, host: DriverHost, signal: AbortSignal): Promise<void> => {
    for (const [token, some] of Map.groupBy(more, ({ contract }) => contract)) {
      const ids = some.map(({ forwarder }) => forwarder.id);
      const payments = await readAgain(db, vault, caip2, ids);
      const isSearched =
        token === null
          ? (await readCoinPage(sources, payments, block, 'one', signal)) !== null
          : await explainSurplus(sources, host, token, payments, block.number, signal);
      if (!isSearched)
        log.warn({ caip2, contract: token }, 'funds that no transfer explains could not be searched for');
    }
  };

  /** Reads forwarders again, with as many nodes as must agree. Null if they cannot be read now. */
  const confirm = async (
    forwarders: readonly ComparedForwarder[],
    block: Block,
    signal: AbortSignal,
  ): Promise<{ readonly differing: readonly SuspectedDifference[]; readonly agreeing: readonly Holder[] } | null> => {
    const { holders, heldBy } = await recorded(forwarders, block.number);
    const lowest = await read(holders, block, 'lowest', signal);
    const highest = await read(holders, block, 'highest', signal);
    if (lowest === null || highest === null) return null;
    const differing: SuspectedDifference[] = [];
    const agreeing: Holder[] = [];
    for (const holder of holders) {
      const [low, high, held] = [lowest.get(nameOf(holder)), highest.get(nameOf(holder)), heldBy(holder)];
      // A token that does not answer neither differs nor agrees, and neither does one whose nodes disagree.
      if (low === undefined || high === undefined) continue;
      if (low.balance === held && high.balance === held) agreeing.push(holder);
      const sure = low.balance > held ? low : high;
      if (sure.balance === held || (sure === high && high.balance > held)) continue;
      const { forwarder, contract } = holder;
      differing.push({
        ...forwarder,
        contract,
        balance: sure.balance,
        blockNumber: block.number,
        blockHash: block.hash,
      });
    }
    return { differing, agreeing };
  };

  /** Compares one page at the newest block. Returns false if the balances cannot be read now. */
  const compare = async (
    forwarders: readonly ComparedForwarder[],
    block: Block,
    host: DriverHost,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { holders, heldBy } = await recorded(forwarders, block.number);
    // The highest answer: a node that leaves something out shows less.
    const balances = await read(holders, block, 'highest', signal);
    if (balances === null) return false;
    const differing = [...balances.values()].filter(each => each.balance !== heldBy(each));
    const more = differing.filter(each => each.balance > heldBy(each));
    await explain(more, block, host, signal);
    const differ = new Set(differing.map(({ forwarder }) => forwarder.id));
    const doubtful = forwarders.filter(({ isOpen, id }) => isOpen || differ.has(id));
    if (doubtful.length === 0) return true;
    const confirmed = await confirm(doubtful, block, signal);
    if (confirmed === null) return false;
    await suspectDifferences(db, caip2, confirmed.differing);
    const agreeing = confirmed.agreeing.filter(({ forwarder }) => forwarder.isOpen);
    await resolveAgreeing(
      db,
      lease,
      agreeing.map(({ forwarder, contract }) => ({ id: forwarder.id, contract })),
    );
    return true;
  };

  /** The difference that is left of a suspected one, now that its block is final. */
  const settled = async ({ contract, balance, blockNumber, ...key }: SuspectedDifference): Promise<Difference[]> => {
    const rows = await recordedBalances(db, caip2, [key], blockNumber);
    const held = BigInt(rows.find(row => row.contract === contract)?.held ?? 0);
    return balance === held ? [] : [{ key, contract, amount: balance - held, recorded: held, blockNumber }];
  };

  /** Reports suspected differences whose block is final and still on the chain. */
  const report = async (signal: AbortSignal): Promise<void> => {
    const [chain] = await readChains(db, [caip2]);
    const final = chain!.finalizedNumber ?? (chain!.latestNumber ?? 0) - deepestReorg;
    const ready = await suspectedUpTo(db, caip2, final, suspectsPerTurn);
    for (const [hash, some] of Map.groupBy(ready, ({ blockHash }) => blockHash)) {
      const canonical = await driver.header(some[0]!.blockNumber, signal);
      if (canonical === null) continue;
      const left: Difference[] = [];
      for (const suspect of canonical.hash === hash ? some : []) left.push(...(await settled(suspect)));
      await reportDifferences(context, caip2, left);
      await forgetSuspected(db, caip2, hash);
    }
  };

  /** Returns whether an operator waits for the rest of the round. */
  const turn = async (block: Block, host: DriverHost, signal: AbortSignal): Promise<boolean> => {
    await report(signal);
    const state = await readReconciliation(db, caip2);
    const isRequested = state?.isRequested ?? false;
    const isRunning = state?.isRunning ?? false;
    if (!isRunning) {
      if (!isRequested && (state?.ageSeconds ?? roundSeconds) < roundSeconds) return false;
      await startRound(db, lease);
    }
    const { forwarders, after } = await nextForwarders(db, caip2, isRunning ? state!.after : '', comparedPerTurn);
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
    if (clock.now() < nextTurnMs) return;
    const startedMs = clock.now();
    nextTurnMs = startedMs + intervalMs;
    try {
      let isMore = true;
      while (isMore && !signal.aborted && clock.now() - startedMs < requestedMs)
        isMore = await turn(block, host, signal);
      if (isMore) nextTurnMs = clock.now();
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      log.warn({ caip2, fault: error.message }, 'balances could not be compared with the ledger');
    }
  };
};
