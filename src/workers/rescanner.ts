import type { Driver, DriverHost } from '../chains/driver.ts';
import { applyReread } from '../engine/chain/applyReread.ts';
import type { Context } from '../engine/context.ts';
import { type Lease, readChains } from '../storage/chain/chains.ts';
import { advanceRescan, nextRescan, type Rescan, startRescan, writeRescanFault } from '../storage/chain/rescans.ts';
import { blockAtTime } from './blockAtTime.ts';

const blocksPerBatch = 100;
/** How long one turn may keep the watcher from new blocks. */
const turnMs = 1_000;

/** A host that knows one address only. */
const hostOf = (host: DriverHost, { address }: Rescan): DriverHost =>
  address === null
    ? host
    : { ...host, paymentAddresses: addresses => host.paymentAddresses(addresses.filter(each => each === address)) };

/** Reads blocks again that somebody asked for, between polls of the watcher. */
export const createRescanner = (context: Context, driver: Driver, lease: Lease, clock = performance) => {
  const { db, log } = context;
  const { caip2 } = lease;

  /** Turns the time from which to read into a height. Null if the nodes do not answer. */
  const startOf = async ({ fromNumber, fromTime, toNumber }: Rescan, signal: AbortSignal): Promise<number | null> => {
    if (fromNumber !== null) return fromNumber;
    const [chain] = await readChains(db, [caip2]);
    return blockAtTime(driver, { from: chain?.startNumber ?? 0, to: toNumber }, fromTime!, signal);
  };

  /** Reads the next batch. Returns whether there is more to do now. */
  const readBatch = async (host: DriverHost, signal: AbortSignal): Promise<boolean> => {
    const rescan = await nextRescan(db, caip2);
    if (rescan === null) return false;
    const { id, toNumber, nextNumber } = rescan;
    if (nextNumber === null) {
      const from = await startOf(rescan, signal);
      if (from !== null) await startRescan(db, id, from);
      else await writeRescanFault(db, id, 'Too few nodes answer.');
      return from !== null;
    }
    const to = Math.min(toNumber, nextNumber + blocksPerBatch - 1);
    const blocks = await driver.rereadRange({ from: nextNumber, to }, hostOf(host, rescan), signal);
    if (blocks === null) {
      await writeRescanFault(db, id, `Too few nodes report the blocks ${nextNumber} to ${to}.`);
      return false;
    }
    const found = await applyReread(context, lease, blocks, (tx, added) => advanceRescan(tx, id, to + 1, added));
    if (found > 0) log.error({ caip2, from: nextNumber, to, found }, 'transfers were found that had been missed');
    return true;
  };

  return async (host: DriverHost, signal: AbortSignal): Promise<void> => {
    const untilMs = clock.now() + turnMs;
    while (!signal.aborted && (await readBatch(host, signal)) && clock.now() < untilMs);
  };
};
