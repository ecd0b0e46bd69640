import type { Heights } from '../../core/payment/facts.ts';
import { broughtBack } from '../../core/payment/lostTransfers.ts';
import { isTransferGenuine, type StoredTransfer } from '../../storage/chain/transferSeals.ts';
import type { SealedChain } from '../../storage/chain/transfers.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import { TamperedPayment } from './paymentAddress.ts';

type Parts = Pick<Context, 'vault' | 'log'>;
type Payment = Pick<PaymentRow, 'id' | 'accountId' | 'caip2' | 'contract' | 'address' | 'lostTransfers'>;

const isGenuine = ({ vault }: Parts, row: Payment, transfer: StoredTransfer): boolean =>
  transfer.stray === (transfer.caip2 !== row.caip2 || transfer.contract !== row.contract) &&
  isTransferGenuine(vault, transfer, row.address);

/**
 * Call before transfers decide anything or are shown. Throws if one of them was changed in the database, was written there
 * for another payment, or counts although a reorganization took it.
 */
export const assertGenuineTransfers = (parts: Parts, row: Payment, transfers: readonly StoredTransfer[]): void => {
  const changed = transfers.filter(transfer => !isGenuine(parts, row, transfer));
  const forged = [...changed, ...broughtBack(row.lostTransfers, transfers)].map(({ key }) => key);
  if (forged.length === 0) return;
  parts.log.error(
    { forged: 'transfers', paymentId: row.id, accountId: row.accountId, transfers: forged },
    'transfers of a payment do not match their seals',
  );
  throw new TamperedPayment('a transfer of the payment does not match its seal');
};

type ChainText = {
  readonly caip2: string;
  readonly latest_number?: number;
  readonly safe_number?: number;
  readonly finalized_number?: number;
  readonly agreed_number?: number;
};

/** How far the chain of a payment is read. Throws if that was changed in the database. */
export const genuineHeights = (parts: Parts, row: Payment, [table, text, seal]: SealedChain): Heights => {
  const { caip2, ...heights } = JSON.parse(text) as ChainText;
  if (seal === null || caip2 !== row.caip2 || !parts.vault.isRowSeal(table, [text], Buffer.from(seal, 'hex'))) {
    parts.log.error({ forged: 'chains', paymentId: row.id, caip2: row.caip2 }, 'a chain does not match its seal');
    throw new TamperedPayment('the chain of the payment does not match its seal');
  }
  return {
    latest: heights.latest_number ?? null,
    safe: heights.safe_number ?? null,
    finalized: heights.finalized_number ?? null,
    agreed: heights.agreed_number ?? null,
  };
};
