import type { SweepRow } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { invalid } from '../../core/errors.ts';
import { formatAmount } from '../../core/money.ts';
import type { Queryable } from '../../storage/database.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import { strayHeldBy } from '../../storage/settlement/strayHoldings.ts';
import {
  findSweep,
  insertSweep,
  listSweeps,
  readSweptPayments,
  type StoredSweep,
} from '../../storage/settlement/sweeps.ts';
import type { Context } from '../context.ts';
import { heldBy } from '../payments/movedFunds.ts';
import { assertAuthentic } from '../payments/paymentAddress.ts';
import { knownTokens } from '../payments/tokenText.ts';
import type { Work } from '../perform.ts';
import { type SweptToken, sweptToken } from './sweepPlan.ts';

const shownSweeps = 50;

/**
 * `landed` once the watcher has seen its forwards. `failed` if other transactions emptied its payments. Until then it
 * is `sent`, however long that takes.
 */
const statusOf = ({ forwarded, isOpen }: StoredSweep): SweepRow['status'] => {
  if (forwarded !== null) return 'landed';
  return isOpen ? 'sent' : 'failed';
};

const sweepObject = (row: StoredSweep): SweepRow => ({
  id: row.id,
  network: row.network,
  currency: row.currency,
  txHash: row.txHash,
  status: statusOf(row),
  payments: row.payments,
  amount: formatAmount(BigInt(row.forwarded ?? row.amount), row.decimals),
  createdAt: row.createdAt.toISOString(),
  landedAt: row.landedAt?.toISOString() ?? null,
  by: row.by,
});

export const recentSweeps = async (context: Context, scope: Scope): Promise<SweepRow[]> =>
  (await listSweeps(context.listDb, scope, shownSweeps)).map(sweepObject);

export type SentSweep = SweptToken & { readonly txHash: string; readonly payments: readonly string[] };

type Origin = { readonly caip2: string; readonly contract: string | null; readonly decimals: number };

/** The token of the transaction: that of its payments, or the configured one if it came to all of them as a stray. */
const originOf = (context: Context, scope: Scope, token: SweptToken, own: readonly PaymentRow[]): Origin => {
  if (own[0]) return own[0];
  const network = context.networks.configured(scope.environment, token.network)!;
  const { contract, decimals } = knownTokens(network).find(({ symbol }) => symbol === token.currency)!;
  return { caip2: network.caip2, contract, decimals };
};

/** A transaction has one chain and one token, and its payments must be the caller's own. Returns what they hold. */
const commonOrigin = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  ids: ReadonlySet<string>,
  token: SweptToken,
): Promise<Origin & { readonly amount: bigint }> => {
  const rows = await readSweptPayments(tx, scope, [...ids]);
  for (const row of rows) assertAuthentic(context, row);
  const isOwn = (row: PaymentRow): boolean => row.network === token.network && row.currency === token.currency;
  const own = rows.filter(isOwn);
  const { caip2, contract, decimals } = originOf(context, scope, token, own);
  const strays = await strayHeldBy(tx, scope, [...ids], { caip2, contract });
  const isSwept = (row: PaymentRow): boolean => row.walletKind === 'forwarder' && (isOwn(row) || strays.has(row.id));
  if (rows.length !== ids.size || !rows.every(isSwept)) {
    throw invalid('payments', 'payments must be ids of your own payments that received this token at forwarders.');
  }
  if (!own.every(row => row.caip2 === caip2 && row.contract === contract)) {
    throw invalid('payments', 'payments must all be on one chain and in one token contract.');
  }
  const amount = rows.reduce((sum, row) => sum + (isOwn(row) ? heldBy(row) : strays.get(row.id)!), 0n);
  return { caip2, contract, decimals, amount };
};

/** Records a sweep that a wallet has sent. Recording it twice gives the same sweep. */
export const recordSweep =
  (context: Context, sent: SentSweep): Work<SweepRow> =>
  async (tx, { scope, actor }) => {
    const token = sweptToken(context, scope, sent);
    const txHash = sent.txHash.toLowerCase();
    const ids = new Set(sent.payments);
    const { caip2, contract, decimals, amount } = await commonOrigin(context, tx, scope, ids, token);
    const nowMs = context.clock.nowMs();
    const { id } = context.ids.next('sweep', nowMs);
    const isNew = await insertSweep(tx, {
      ...scope,
      ...token,
      id,
      caip2,
      contract,
      decimals,
      txHash,
      amount,
      createdBy: actor.id!,
      createdAt: new Date(nowMs),
      paymentIds: [...ids],
    });
    const detail = { ...token, txHash, payments: ids.size, amount: formatAmount(amount, decimals) };
    return {
      value: sweepObject((await findSweep(tx, scope, caip2, txHash))!),
      deed: isNew ? { action: 'settlement.swept', subject: id, detail } : null,
    };
  };
