import type { DriverHost } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { bookedAt } from '../engine/chain/findCoins.ts';
import { readGenuineCoins } from '../engine/chain/genuineCoins.ts';
import {
  expiredUnread,
  expiringPayments,
  markAddressesRead,
  readAgain,
  type UnreadPayment,
} from '../storage/chain/addressChecks.ts';
import type { Difference } from '../storage/settlement/differences.ts';
import type { ChainSources } from './chainSources.ts';
import { noticeForged, readCoinPage } from './coinPage.ts';
import { explainSurplus } from './explainSurplus.ts';
import { reportDifferences } from './reportDifferences.ts';

/** Addresses per turn, of tokens and of native coin. A node reads 500 balances per call. */
const share = 500;
/** When an address that does not agree is looked at again: before its payment expires, and after. */
const [retryMs, lookAgainMs] = [60_000, 600_000];
/** After nodes failed, the next turn waits this long. */
const pauseMs = 5_000;

type Surplus = { readonly payment: UnreadPayment; readonly amount: bigint };

/**
 * Reads the address of each payment whose time is over, in its own token and in native coin, before it expires. What
 * the records do not explain is searched for in the blocks since its creation. What stays unexplained is recorded and
 * logged, never credited.
 */
export const createExpiryReader = (sources: ChainSources, clock: { now(): number } = performance) => {
  const { context, driver, lease } = sources;
  const { db, vault, log } = context;
  const { caip2 } = lease;
  /** Payments that did not agree, with the time of their next turn. They leave once they expire. */
  const retryAt = new Map<string, number>();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let lookedAgainMs = clock.now();
  let after = '';

  /** What addresses hold in this token beyond their records. Null if the balances cannot be read. */
  const surplusOf = async (
    token: string,
    payments: readonly UnreadPayment[],
    block: Block,
    signal: AbortSignal,
  ): Promise<readonly Surplus[] | null> => {
    const holders = payments.map(({ address }) => address);
    // The highest answer: a node that leaves something out shows less.
    const balances = await driver.balances({ token, holders, block }, 'highest', signal);
    return (
      balances &&
      payments.flatMap(payment => {
        const amount = balances.get(payment.address)! - BigInt(payment.recorded);
        return amount > 0n ? [{ payment, amount }] : [];
      })
    );
  };

  /** The payments whose token balance is not explained. Null if it cannot be read. */
  const unexplainedTokens = async (
    token: string,
    payments: readonly UnreadPayment[],
    block: Block,
    host: DriverHost,
    signal: AbortSignal,
  ): Promise<readonly Surplus[] | null> => {
    const surplus = await surplusOf(token, payments, block, signal);
    if (surplus === null || surplus.length === 0) return surplus;
    const suspected = surplus.map(({ payment }) => payment);
    if (!(await explainSurplus(sources, host, token, suspected, block.number, signal))) return null;
    const ids = suspected.map(({ id }) => id);
    return surplusOf(token, await readAgain(db, vault, caip2, ids), block, signal);
  };

  /** Reads the addresses at a block and marks those that agree. Returns false if some cannot be read now. */
  const read = async (
    all: readonly UnreadPayment[],
    block: Block,
    upTo: Date,
    host: DriverHost,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { true: forged = [], false: payments = [] } = Object.groupBy(all, ({ isForged }) => `${isForged}`);
    for (const { id } of forged) retryAt.set(id, clock.now() + retryMs);
    if (forged.length > 0) noticeForged(sources, forged);
    const doubtedCoin = await readCoinPage(sources, payments, block, 'highest', signal);
    if (doubtedCoin === null) return false;
    const at = { blockNumber: block.number };
    const unexplained: Difference[] = doubtedCoin.map(({ payment: key, amount }) => ({
      key,
      recorded: bookedAt(key, block.number),
      contract: null,
      amount,
      ...at,
    }));
    const waiting = new Set(unexplained.map(({ key }) => key.id));
    const unread = new Set<string>();
    for (const [token, some] of Map.groupBy(payments, ({ contract }) => contract)) {
      const left = token === null ? [] : await unexplainedTokens(token, some, block, host, signal);
      // A token that cannot be read holds up its own payments only.
      if (left === null) for (const { id } of some) unread.add(id);
      for (const { payment: key, amount } of left ?? []) {
        unexplained.push({ key, contract: token, amount, recorded: BigInt(key.recorded), ...at });
        // An address of an extended public key may hold tokens that are older than its payment. They are reported, but the
        // payment does not wait for them.
        if (key.walletKind === 'forwarder') waiting.add(key.id);
      }
    }
    for (const id of [...waiting, ...unread]) retryAt.set(id, clock.now() + retryMs);
    await reportDifferences(context, caip2, unexplained);
    const doubted = new Set(unexplained.map(({ key }) => key.id));
    const done = payments.filter(({ id }) => !waiting.has(id) && !unread.has(id));
    for (const agree of [true, false]) {
      const some = done.filter(({ id }) => doubted.has(id) !== agree);
      await markAddressesRead(db, lease, some, { upTo, agree });
    }
    return unread.size === 0;
  };

  const due = async (
    upTo: Date,
  ): Promise<{ readonly payments: readonly UnreadPayment[]; readonly isMore: boolean }> => {
    const nowMs = clock.now();
    for (const [id, atMs] of retryAt) if (atMs <= nowMs) retryAt.delete(id);
    const expiring = await readGenuineCoins(context, caip2, () =>
      expiringPayments(db, vault, caip2, { upTo, except: [...retryAt.keys()], share }),
    );
    const coins = expiring.filter(({ contract }) => contract === null).length;
    const isMore = Math.max(coins, expiring.length - coins) >= share;
    if (nowMs - lookedAgainMs < lookAgainMs && after === '') return { payments: expiring, isMore };
    lookedAgainMs = nowMs;
    const expired = await readGenuineCoins(context, caip2, () =>
      expiredUnread(db, vault, caip2, { after, limit: share }),
    );
    after = expired.length < share ? '' : expired.at(-1)!.id;
    return { payments: [...expiring, ...expired], isMore };
  };

  /**
   * `block` is the newest block, and `upTo` the time up to which the chain is read with it. Returns whether more addresses can
   * be read now.
   */
  return async (block: Block, upTo: Date, host: DriverHost, signal: AbortSignal): Promise<boolean> => {
    if (clock.now() < pausedUntilMs) return false;
    const { payments, isMore } = await due(upTo);
    if (payments.length === 0) return false;
    let fault = 'Too few nodes have the state of the newest block.';
    try {
      if (await read(payments, block, upTo, host, signal)) return isMore;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      fault = error.message;
    }
    pausedUntilMs = clock.now() + pauseMs;
    log.warn({ caip2, payments: payments.length, fault }, 'balances of expiring payments could not be read');
    return false;
  };
};
