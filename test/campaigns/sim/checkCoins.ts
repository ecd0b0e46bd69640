import { type ChainRpc, hexOf } from './chainRpc.ts';
import { type Check, isByBalance, keptBlocks, type Walked } from './checkChain.ts';
import type { EventRow, PaymentRow, Tables, TransferRow } from './tables.ts';

/** Payments per turn of the scanner. While there are fewer, every turn covers all open payments. */
const pageSize = 2_000;

const isOpen = (status: string): boolean => status === 'pending' || status === 'confirming' || status === 'reversed';

/** The intervals in which the payment was open, by its events. */
const openTimes = (history: readonly EventRow[], nowMs: number): { fromMs: number; toMs: number }[] => {
  const times: { fromMs: number; toMs: number }[] = [];
  let fromMs: number | null = null;
  for (const { status, createdMs } of history) {
    if (isOpen(status)) fromMs ??= createdMs;
    else if (fromMs !== null) {
      times.push({ fromMs, toMs: createdMs });
      fromMs = null;
    }
  }
  return fromMs === null ? times : [...times, { fromMs, toMs: nowMs }];
};

/** Whether coin of an expired payment was reorged recently, so that it may come again. */
const isLostLately = ({ id }: PaymentRow, { transfers, chain }: Tables): boolean =>
  transfers.some(
    row =>
      row.paymentId === id && !row.canonical && isByBalance(row) && row.blockNumber > chain.latestNumber - keptBlocks,
  );

/**
 * The height up to which coin sent by a contract must be recorded. The scanner looks while a payment is open, and for
 * expired payments whose coin was reorged and may come again; then up to the head. For a closed payment it does not
 * look any more, but coin from before counts as far as it was scanned while open:
 * - no payment expires before everything mined in its time was scanned
 * - when coin of a block is in the table, all payments open then were scanned up to that block; with more payments than
 *   fit into one turn this cannot be derived here
 */
const dueHeight = (payment: PaymentRow, history: readonly EventRow[], tables: Tables, walked: Walked): number => {
  const { chain, transfers, nowMs } = tables;
  if (isOpen(payment.status)) return chain.latestNumber;
  if (payment.status === 'expired' && isLostLately(payment, tables)) return chain.latestNumber;
  let height = chain.startNumber;
  // Block times are whole seconds, at most one second behind the clock.
  if (payment.status === 'expired') {
    for (const block of walked.values()) {
      if ((block.timestampS + 1) * 1000 <= payment.expiresMs) height = Math.max(height, block.number);
    }
  }
  if (tables.payments.filter(({ contract }) => contract === null).length >= pageSize) return height;
  const times = openTimes(history, nowMs);
  for (const row of transfers) {
    if (!row.canonical || !isByBalance(row) || row.blockNumber <= height) continue;
    if (times.some(({ fromMs, toMs }) => fromMs < row.firstSeenMs && row.firstSeenMs < toMs)) height = row.blockNumber;
  }
  return height;
};

const sumUpTo = (rows: readonly TransferRow[], height: number): bigint =>
  rows.reduce((sum, row) => (row.blockNumber <= height ? sum + BigInt(row.amount) : sum), 0n);

/**
 * I2 for native coin, which is not forwarded here: no more is recorded than the address holds, at the cursor and in
 * every block in which coin was found. At the end, no less is recorded at the height up to which it must have been
 * found.
 */
export const checkCoins = async (tables: Tables, walked: Walked, rpc: ChainRpc, isSettled: boolean): Promise<Check> => {
  const { chain } = tables;
  const coins = tables.payments.filter(payment => payment.contract === null);
  const standing = tables.transfers.filter(row => row.canonical && row.contract === null);
  const rowsOf = Map.groupBy(standing, row => row.paymentId);
  const histories = Map.groupBy(tables.events, event => event.paymentId);
  const questions = coins.flatMap(payment => {
    const rows = rowsOf.get(payment.id) ?? [];
    const due = isSettled ? dueHeight(payment, histories.get(payment.id) ?? [], tables, walked) : null;
    const found = isSettled ? rows.filter(isByBalance).map(row => row.blockNumber) : [];
    const heights = new Set([chain.latestNumber, ...found, ...(due === null ? [] : [due])]);
    return [...heights].map(height => ({ payment, rows, height, isDue: height === due }));
  });
  const balances = await rpc.batch(
    questions.map(({ payment, height }) => ['eth_getBalance', payment.address, hexOf(height)]),
  );
  const problems = questions.flatMap(({ payment, rows, height, isDue }, at) => {
    const [sum, balance] = [sumUpTo(rows, height), BigInt(balances[at] as string)];
    if (sum <= balance && !(isDue && sum < balance)) return [];
    return [`${payment.id} (${payment.status}) holds ${balance} at ${height}, on record are ${sum}`];
  });
  const late = questions.filter(({ isDue, height }) => isDue && height < chain.latestNumber).length;
  return { what: `I2 ${coins.length} native-coin addresses, ${late} of them closed, hold what is on record`, problems };
};
