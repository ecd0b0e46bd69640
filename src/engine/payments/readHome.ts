import { type Home, wrongToken } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { formatAmount } from '../../core/money.ts';
import {
  conversionSince,
  type DayVolume,
  type StateCount,
  speedSince,
  statesNow,
  strayedNow,
  volumesSince,
} from '../../storage/payments/homeFigures.ts';
import { accountDifferences } from '../../storage/settlement/differences.ts';
import { webhookHealth } from '../../storage/webhooks/webhookHealth.ts';
import type { Context } from '../context.ts';

const dayMs = 86_400_000;
const healthDays = 7;
const shownDifferences = 100;

/** UTC days up to today, oldest first. */
const daysUpTo = (nowMs: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(nowMs - (count - 1 - at) * dayMs).toISOString().slice(0, 10));

/** A token whose configured decimals changed is still one token: its sums use the most decimals. */
const volumeOf = (rows: readonly DayVolume[], days: readonly string[]): Home['volumes'][number] => {
  const [{ currency, network }] = rows as readonly [DayVolume];
  const decimals = Math.max(...rows.map(row => row.decimals));
  const sumOf = (some: readonly DayVolume[]): string =>
    formatAmount(
      some.reduce((sum, row) => sum + row.amount * 10n ** BigInt(decimals - row.decimals), 0n),
      decimals,
    );
  const byDay = Map.groupBy(rows, row => row.day);
  return {
    currency,
    network,
    total: sumOf(rows),
    perDay: days.map(day => sumOf(byDay.get(day) ?? [])),
    count: rows.reduce((sum, row) => sum + row.count, 0),
  };
};

const openNow = (states: readonly StateCount[]): number =>
  states
    .filter(({ status, exception }) => exception === '' && (status === 'pending' || status === 'confirming'))
    .reduce((sum, { count }) => sum + count, 0);

/** Funds that arrived without completing the payment, or that a reorg removed. */
const needsAttention = ({ status, exception }: StateCount): boolean =>
  status === 'reversed' ? exception !== '' : exception === 'underpaid' || exception === 'late';

const networksOf = async (context: Context, { environment }: Scope): Promise<Home['networks']> =>
  (await context.networks.list(environment)).map(({ network, status, latestBlock, lagSeconds, checkedAt }) => ({
    slug: network.slug,
    name: network.name,
    backing: network.backing,
    status,
    latestBlock: latestBlock === null ? null : Number(latestBlock),
    lagSeconds,
    checkedAt: checkedAt?.toISOString() ?? null,
  }));

/**
 * The figures of an environment over a number of UTC days, including today. Volumes, conversion and states come from
 * stored sums, speed from the newest 500 completed payments, webhooks from recent deliveries.
 */
export const readHome = async (context: Context, scope: Scope, dayCount: number): Promise<Home> => {
  const nowMs = context.clock.nowMs();
  const days = daysUpTo(nowMs, dayCount);
  const sinceMs = Date.parse(days[0]!);
  const db = context.listDb;
  const conversion = new Map((await conversionSince(db, scope, days[0]!)).map(row => [row.day, row]));
  const volumes = Map.groupBy(await volumesSince(db, scope, days[0]!), row => `${row.currency} ${row.network}`);
  const states = await statesNow(db, scope);
  return {
    days,
    volumes: [...volumes.values()].map(rows => volumeOf(rows, days)),
    conversion: {
      created: days.map(day => conversion.get(day)?.created ?? 0),
      completed: days.map(day => conversion.get(day)?.completed ?? 0),
    },
    speed: await speedSince(db, scope, sinceMs),
    webhooks: await webhookHealth(db, scope, nowMs - healthDays * dayMs),
    networks: await networksOf(context, scope),
    openNow: openNow(states),
    attention: [
      ...states.filter(needsAttention),
      ...(await strayedNow(db, scope)).map(row => ({ ...row, exception: wrongToken })),
    ],
    differences: (await accountDifferences(db, scope, shownDifferences)).length,
  };
};
