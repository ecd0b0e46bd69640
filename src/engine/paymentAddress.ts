import { parseEvmAddress } from '../chains/evm/address.ts';
import { deriveForwarder } from '../chains/evm/forwarder.ts';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
import type { Scope } from '../core/environment.ts';
import type { PaymentRow } from '../storage/payments.ts';
import type { Vault } from '../vault/vault.ts';
import type { Context } from './context.ts';

export type AddressOrigin = {
  scope: Scope;
  walletKind: 'forwarder' | 'xpub';
  /** The treasury address, or the extended public key. */
  treasury: string;
  index: bigint;
};

export const deriveAddress = (vault: Vault, origin: AddressOrigin): string =>
  origin.walletKind === 'forwarder'
    ? deriveForwarder({ treasury: origin.treasury, salt: vault.salt(origin.scope, origin.index) })
    : deriveXpubAddress(origin.treasury, Number(origin.index));

/** An address as it is stored, however the caller spells it. */
export const canonicalAddress = (text: string): string => parseEvmAddress(text) ?? text;

/** The row an address came from does not carry our seal: somebody changed it in the database. */
export class TamperedPayment extends Error {}

/** A treasury that cannot be read as this kind of wallet is a broken row, never a fault of the caller. */
const derivesTo = (vault: Vault, origin: AddressOrigin, address: string): boolean => {
  try {
    return deriveAddress(vault, origin) === address;
  } catch {
    return false;
  }
};

/** Whether the row is as this service sealed it. */
export const carriesSeal = ({ vault }: Pick<Context, 'vault'>, row: PaymentRow): boolean =>
  vault.verifyPaymentMac({ ...row, amount: BigInt(row.amount), index: BigInt(row.derivationIndex) }, row.mac);

/**
 * Called wherever an address is about to be shown. The key is outside the database, so a changed address, treasury or
 * amount, or a row copied from elsewhere, is caught here.
 */
export const assertAuthentic = (context: Pick<Context, 'vault' | 'log'>, row: PaymentRow): void => {
  const index = BigInt(row.derivationIndex);
  const scope: Scope = { accountId: row.accountId, environment: row.environment };
  const origin = { scope, walletKind: row.walletKind, treasury: row.treasury, index };
  if (carriesSeal(context, row) && derivesTo(context.vault, origin, row.address)) return;
  context.log.error({ paymentId: row.id, accountId: row.accountId }, 'a payment does not match its seal');
  throw new TamperedPayment('the payment does not match its seal');
};
