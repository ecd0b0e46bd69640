import { parseEvmAddress } from '../../chains/evm/address.ts';
import { deriveForwarder } from '../../chains/evm/forwarder.ts';
import { deriveXpubAddress } from '../../chains/evm/xpub.ts';
import type { Scope } from '../../core/environment.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Context } from '../context.ts';
import { isPaymentSealed } from './paymentSeal.ts';

export type AddressOrigin = {
  scope: Scope;
  walletKind: 'forwarder' | 'xpub';
  /** The treasury address or the extended public key. */
  treasury: string;
  index: bigint;
};

export const deriveAddress = (vault: Vault, origin: AddressOrigin): string =>
  origin.walletKind === 'forwarder'
    ? deriveForwarder({ treasury: origin.treasury, salt: vault.salt(origin.scope, origin.index) })
    : deriveXpubAddress(origin.treasury, Number(origin.index));

/** The stored spelling of an address. */
export const canonicalAddress = (text: string): string => parseEvmAddress(text) ?? text;

/** The row does not match its seal: somebody changed it in the database. */
export class TamperedPayment extends Error {}

/** A treasury that does not fit the wallet kind is a broken row, not a fault of the caller. */
const derivesTo = (vault: Vault, origin: AddressOrigin, address: string): boolean => {
  try {
    return deriveAddress(vault, origin) === address;
  } catch {
    return false;
  }
};

/** Whether the address, its treasury and the amount are as Florin wrote them; the state may not be. */
export const hasValidTerms = ({ vault }: Pick<Context, 'vault'>, row: PaymentRow): boolean =>
  vault.verifyPaymentMac({ ...row, amount: BigInt(row.amount), index: BigInt(row.derivationIndex) }, row.mac);

/** Whether the row is as Florin sealed it. Rows from before whole rows were sealed got a seal as they were. */
export const hasValidSeal = (context: Pick<Context, 'vault'>, row: PaymentRow): boolean =>
  hasValidTerms(context, row) && isPaymentSealed(context.vault, row);

/**
 * Call before a payment is shown or decided. The keys are not in the database, so this detects a changed address,
 * treasury, amount or state, and a row copied from elsewhere.
 */
export const assertAuthentic = (context: Pick<Context, 'vault' | 'log'>, row: PaymentRow): void => {
  const index = BigInt(row.derivationIndex);
  const scope: Scope = { accountId: row.accountId, environment: row.environment };
  const origin = { scope, walletKind: row.walletKind, treasury: row.treasury, index };
  if (hasValidSeal(context, row) && derivesTo(context.vault, origin, row.address)) return;
  context.log.error(
    { forged: 'payments', paymentId: row.id, accountId: row.accountId },
    'a payment does not match its seal',
  );
  throw new TamperedPayment('the payment does not match its seal');
};
