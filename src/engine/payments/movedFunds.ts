import type { HoldingMove, VolumeMove } from '../../storage/payments/moveTotals.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';

/** A row before and after a change. */
type Change = { readonly before: PaymentRow; readonly after: PaymentRow };

const volumeOf = (row: PaymentRow, sign: 1 | -1): VolumeMove[] => {
  if (row.status !== 'completed' || row.completedAt === null) return [];
  const amount = BigInt(sign) * BigInt(row.amountConfirmed);
  return [{ ...tokenOf(row), at: row.completedAt, count: sign, amount }];
};

const tokenOf = ({ accountId, environment, currency, network, decimals }: PaymentRow) => ({
  accountId,
  environment,
  currency,
  network,
  decimals,
});

const isSameVolume = ({ before, after }: Change): boolean =>
  before.status === after.status &&
  before.amountConfirmed === after.amountConfirmed &&
  before.completedAt?.getTime() === after.completedAt?.getTime();

/** What a change adds to the volumes and what it removes. */
export const movedVolume = (change: Change): VolumeMove[] =>
  isSameVolume(change) ? [] : [...volumeOf(change.before, -1), ...volumeOf(change.after, 1)];

/** Final funds at the payment's forwarder. Zero for extended keys, whose funds Florin does not move. */
export const heldBy = (row: Pick<PaymentRow, 'walletKind' | 'amountConfirmed' | 'amountForwarded'>): bigint => {
  const held = BigInt(row.amountConfirmed) - BigInt(row.amountForwarded);
  return row.walletKind === 'forwarder' && held > 0n ? held : 0n;
};

export const movedHolding = ({ before, after }: Change): HoldingMove[] => {
  const [heldBefore, heldAfter] = [heldBy(before), heldBy(after)];
  if (heldBefore === heldAfter) return [];
  const { caip2, contract, treasury } = after;
  const count = Number(heldAfter > 0n) - Number(heldBefore > 0n);
  return [{ ...tokenOf(after), caip2, contract, treasury, count, amount: heldAfter - heldBefore }];
};
