import type { Check, Walked } from './checkChain.ts';
import type { PaymentRow, Tables, TransferRow } from './tables.ts';

const sumOf = (rows: readonly TransferRow[]): bigint => rows.reduce((sum, row) => sum + BigInt(row.amount), 0n);

type Reading = { readonly status: string; readonly exception: string | null; readonly confirmed: bigint };

/** A payment's state from its terms, the chain and the clock, once every block that counts is deep enough. */
const readingOf = (payment: PaymentRow, own: readonly TransferRow[], walked: Walked, tables: Tables): Reading => {
  const amount = BigInt(payment.amount);
  const tolerance = (amount * BigInt(payment.toleranceBps)) / 10_000n;
  const depth = payment.tiers[0]!.depth!;
  const arrivedMs = (row: TransferRow): number =>
    Math.min(row.firstSeenMs, walked.get(row.blockNumber)!.timestampS * 1000);
  const isLate = (row: TransferRow): boolean => arrivedMs(row) > payment.expiresMs;
  const isAccepted = (row: TransferRow): boolean =>
    !isLate(row) || (payment.latePolicy === 'accept' && arrivedMs(row) - payment.expiresMs <= payment.lateWindowMs);
  const isDeep = (row: TransferRow): boolean => tables.chain.latestNumber - row.blockNumber + 1 >= depth;
  const received = sumOf(own);
  const accepted = own.filter(isAccepted);
  const needed = amount - tolerance;
  const isDust = (sum: bigint): boolean => sum < BigInt(payment.dustFloor) && sum * 100n < amount;
  const readUpTo = payment.contract === null ? tables.chain.coinsCaughtUpMs : tables.chain.caughtUpMs;
  const isOver = Math.min(tables.nowMs, readUpTo ?? 0) >= payment.expiresMs;

  let status = isOver ? 'expired' : 'pending';
  if (payment.completedMs !== null) status = 'reversed';
  if (sumOf(accepted) >= needed) status = 'confirming';
  if (sumOf(accepted.filter(isDeep)) >= needed) status = 'completed';

  let exception: string | null = null;
  if (received > 0n && received < amount - tolerance) exception = 'underpaid';
  if (received > amount + tolerance && !isDust(received - amount)) exception = 'overpaid';
  const late = sumOf(own.filter(isLate));
  const isNoted = !isDust(late) || received >= amount - tolerance;
  if (late > 0n && received - late < needed && isNoted) exception = 'late';
  if (isDust(received)) exception = null;
  if (status === 'reversed' || (status === 'confirming' && payment.completedMs !== null)) exception = 'reorged';
  return { status, exception, confirmed: sumOf(own.filter(isDeep)) };
};

const creditsOf = ({ transfers }: Tables): Map<string, TransferRow[]> =>
  Map.groupBy(
    transfers.filter(row => row.canonical && !row.stray),
    row => row.paymentId,
  );

/** I7: whole numbers, and the sum received is that of the canonical transfers of the payment's own token. */
export const checkMoney = (tables: Tables): Check => {
  const credits = creditsOf(tables);
  const isWhole = (text: string): boolean => /^(0|[1-9]\d*)$/.test(text);
  const problems = tables.payments.flatMap(payment => {
    const { id, amount, received, confirmed } = payment;
    if (![amount, received, confirmed].every(isWhole)) return [`${id} has ${amount}, ${received}, ${confirmed}`];
    const sum = sumOf(credits.get(id) ?? []);
    if (sum !== BigInt(received)) return [`${id} received ${received}, its transfers are ${sum}`];
    return BigInt(confirmed) > sum ? [`${id} has ${confirmed} confirmed of ${received}`] : [];
  });
  const broken = tables.transfers.filter(row => !isWhole(row.amount) || row.amount === '0');
  problems.push(...broken.map(row => `${row.key} moves ${row.amount}`));
  return { what: `I7 money is whole, and received is the sum of canonical transfers`, problems };
};

/** While the chain moves: exactly the covered payments are shown as covered. */
export const checkCover = (tables: Tables, walked: Walked): Check => {
  const credits = creditsOf(tables);
  const problems = tables.payments.flatMap(payment => {
    const own = credits.get(payment.id) ?? [];
    const { status } = readingOf(payment, own, walked, tables);
    const isCovered = status === 'confirming' || status === 'completed';
    const isCalledSo = payment.status === 'confirming' || payment.status === 'completed';
    return isCovered === isCalledSo
      ? []
      : [`${payment.id} is ${payment.status} with ${sumOf(own)} of ${payment.amount}`];
  });
  return { what: 'covered payments are confirming or completed, and no others', problems };
};

/** At the end, when no block that counts is near the head: the whole state matches the facts. */
export const checkStanding = (tables: Tables, walked: Walked, depth: number): Check => {
  const credits = creditsOf(tables);
  const problems = tables.payments.flatMap(payment => {
    const { id, tiers } = payment;
    if (tiers.length !== 1 || tiers[0]?.kind !== 'depth' || tiers[0].depth !== depth) {
      return [`${id} was made under ${JSON.stringify(tiers)}`];
    }
    const { status, exception, confirmed } = readingOf(payment, credits.get(id) ?? [], walked, tables);
    if (status !== payment.status || exception !== payment.exception) {
      return [`${id} is ${payment.status} ${payment.exception}, the facts say ${status} ${exception}`];
    }
    return confirmed === BigInt(payment.confirmed)
      ? []
      : [`${id} has ${payment.confirmed} final, the facts ${confirmed}`];
  });
  problems.push(
    ...tables.transfers.filter(row => row.canonical && !row.verified).map(row => `${row.key} is unverified`),
  );
  problems.push(
    ...tables.transfers.filter(row => row.canonical && row.stray && !row.told).map(row => `${row.key} is untold`),
  );
  const counts = Map.groupBy(tables.payments, ({ status }) => status);
  const shown = [...counts].map(([status, some]) => `${some.length} ${status}`).join(', ');
  return { what: `every payment is what the facts say: ${shown}`, problems };
};
