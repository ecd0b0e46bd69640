import { clockSlackMs } from '../../core/chain.ts';
import { countedTwice } from '../../core/coinKey.ts';
import { mostUnits } from '../../core/money.ts';
import { isLost } from '../../core/payment/branches.ts';
import type { Heights } from '../../core/payment/facts.ts';
import { genuineBlockOf } from '../../storage/chain/blockSeals.ts';
import { isTransferGenuine, type PlacedTransfer, type StoredTransfer } from '../../storage/chain/transferSeals.ts';
import { type SealedChain, shownTransfers } from '../../storage/chain/transfers.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { BranchedChain } from '../chain/branchedMoment.ts';
import type { Context } from '../context.ts';
import { TamperedPayment } from './paymentAddress.ts';

type Parts = Pick<Context, 'vault' | 'log'>;
type Payment = Pick<PaymentRow, 'id' | 'accountId' | 'caip2' | 'contract' | 'address' | 'headNumber' | 'createdAt'>;

const refuseForged = ({ log }: Parts, row: Payment, forged: readonly StoredTransfer[], message: string): void => {
  if (forged.length === 0) return;
  const transfers = forged.map(({ key }) => key);
  log.error({ forged: 'transfers', paymentId: row.id, accountId: row.accountId, transfers }, message);
  throw new TamperedPayment('a transfer of the payment does not match its seal');
};

const isGenuine = ({ vault }: Parts, row: Payment, transfer: StoredTransfer): boolean =>
  transfer.stray === (transfer.caip2 !== row.caip2 || transfer.contract !== row.contract) &&
  !(transfer.canonical && transfer.isLost && !transfer.stray) &&
  isTransferGenuine(vault, transfer, row.address);

/** At an address of an extended public key, before the payment. Such transfers are left out when blocks are read. */
const isOlder = ({ headNumber, createdAt }: Payment, { blockNumber, blockTimeMs }: StoredTransfer): boolean =>
  headNumber !== null && blockNumber <= Number(headNumber) && blockTimeMs < createdAt.getTime() - clockSlackMs;

/**
 * Call before transfers decide anything or are shown. Throws if one of them was changed in the database, was written there
 * for another payment, or counts although a balance includes it or it is older than the payment.
 */
export const assertGenuineTransfers = (parts: Parts, row: Payment, transfers: readonly StoredTransfer[]): void => {
  const changed = transfers.filter(transfer => !isGenuine(parts, row, transfer));
  const counted = transfers.filter(({ stray, canonical }) => !stray && canonical);
  const older = counted.filter(transfer => isOlder(row, transfer));
  const forged = [...changed, ...countedTwice(counted), ...older];
  refuseForged(parts, row, forged, 'transfers of a payment do not match their seals');
};

const sumOf = (transfers: readonly StoredTransfer[]): bigint => {
  const sum = transfers.reduce((total, { amount }) => total + BigInt(amount), 0n);
  return sum > mostUnits ? mostUnits : sum;
};

const refuseOthers = ({ log }: Parts, row: Payment): never => {
  const about = { forged: 'transfers', paymentId: row.id, accountId: row.accountId };
  log.error(about, 'the transfers of a payment are not those of its last decision');
  throw new TamperedPayment('the transfers of the payment are not those of its last decision');
};

/** Call before a payment is shown. Throws if it says that it has more than its transfers: its row is an earlier one. */
export const assertNoneMissing = (
  parts: Parts,
  row: Payment & Pick<PaymentRow, 'amountReceived'>,
  shown: readonly StoredTransfer[],
): void => {
  const credits = shown.filter(({ stray }) => !stray);
  if (credits.length < shownTransfers && sumOf(credits) < BigInt(row.amountReceived)) refuseOthers(parts, row);
};

/**
 * Call before transfers decide anything. Throws if one of them counts although its block was orphaned, or does not although
 * it was not, and if funds are missing that were there, or are called final although the payment did not say so.
 */
export const assertOnChain = (
  parts: Parts,
  row: Payment & Pick<PaymentRow, 'status' | 'amountReceived' | 'amountConfirmed'>,
  credits: readonly PlacedTransfer[],
  chain: BranchedChain | undefined,
): void => {
  const settled = credits.filter(transfer => transfer.settled);
  const isFinal = sumOf(settled) === (row.status === 'completed' ? BigInt(row.amountConfirmed) : 0n);
  if (!isFinal || sumOf(credits) < BigInt(row.amountReceived)) refuseOthers(parts, row);
  if (credits.length === 0 || chain === undefined || (chain.branch === null && chain.branches.length === 0)) return;
  const { line } = chain;
  const isForged = (transfer: PlacedTransfer): boolean => {
    const { canonical, superseded } = transfer;
    const block = genuineBlockOf(parts.vault, transfer);
    if (line === null || block === null) return true;
    // A branch that the chain does not have: its row is an earlier one.
    if ((block.branch ?? 0) > line.newest) return true;
    const isGone = isLost(block, line);
    return canonical ? isGone : !isGone && !superseded;
  };
  const message = 'whether transfers of a payment are on the chain was changed in the database';
  refuseForged(parts, row, credits.filter(isForged), message);
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
