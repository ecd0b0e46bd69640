import type { LargeTable } from '../largeSeals.ts';
import { msOf, type SealedFields, sealedColumns, sealedValues, textOf } from '../sealedFields.ts';
import type { SealedPayment, StoredTier } from './payments.ts';

/** Printed as PostgreSQL prints the same values. */
const tiersText = (tiers: readonly StoredTier[]): string =>
  `[${tiers
    .map(({ atLeast, kind, depth }) => [atLeast, kind, depth ?? null].map(value => JSON.stringify(value)).join(', '))
    .map(tier => `[${tier}]`)
    .join(', ')}]`;
const tiersSql = `(select jsonb_agg(jsonb_build_array(tier.value->'atLeast', tier.value->'kind', tier.value->'depth')
    order by tier.ordinality) from jsonb_array_elements(t.tiers) with ordinality as tier)::text`;

const fields: SealedFields<SealedPayment> = {
  account_id: ['text', p => p.accountId],
  environment: ['text', p => p.environment],
  id: ['text', p => p.id],
  amount: ['text', p => p.amount],
  decimals: ['text', p => textOf(p.decimals)],
  currency: ['text', p => p.currency],
  network: ['text', p => p.network],
  caip2: ['text', p => p.caip2],
  contract: ['text', p => p.contract],
  address: ['text', p => p.address],
  wallet_kind: ['text', p => p.walletKind],
  treasury: ['text', p => p.treasury],
  derivation_index: ['text', p => p.derivationIndex],
  mac: ['bytes', p => p.mac.toString('hex')],
  tiers: [{ sql: tiersSql }, p => tiersText(p.tiers)],
  tolerance_bps: ['text', p => textOf(p.toleranceBps)],
  dust_floor: ['text', p => p.dustFloor],
  late_policy: ['text', p => p.latePolicy],
  late_window_seconds: ['text', p => textOf(p.lateWindowSeconds)],
  description: ['text', p => p.description],
  metadata: ['text', p => p.metadata],
  callback_url: ['text', p => p.callbackUrl],
  redirect_url: ['text', p => p.redirectUrl],
  external_id: ['text', p => p.externalId],
  head_number: ['text', p => p.headNumber],
  created_at: ['time', p => msOf(p.createdAt)],
  expires_at: ['time', p => msOf(p.expiresAt)],
  status: ['text', p => p.status],
  exception: ['text', p => p.exception],
  amount_received: ['text', p => p.amountReceived],
  amount_confirmed: ['text', p => p.amountConfirmed],
  amount_accepted: ['text', p => p.amountAccepted],
  accepted_at: ['time', p => msOf(p.acceptedAt)],
  completed_at: ['time', p => msOf(p.completedAt)],
  canceled_at: ['time', p => msOf(p.canceledAt)],
  sequence: ['text', p => textOf(p.sequence)],
  detected: ['text', p => String(p.detected)],
  strayed: ['text', p => String(p.strayed)],
  time_ended_at: ['time', p => msOf(p.timeEndedAt)],
  covered_number: ['text', p => textOf(p.coveredNumber)],
  lost_transfers: ['text', p => p.lostTransfers],
};

export const sealedPayments: LargeTable = {
  table: 'payments',
  key: ['account_id', 'environment', 'id'],
  ...sealedColumns(fields),
  open: {
    wake_at: 'says only when the payment is looked at next; what is decided then follows from sealed facts',
    wake_frontier: 'says only when the payment is looked at next',
    wake_number: 'says only when the payment is looked at next',
    watched: 'says only whether the address of a closed payment is still looked at',
    untold: 'says only whether strays wait for their event',
    awaits_read: 'says only whether the balances of the address are read before the payment expires',
    expired_unread: 'says only whether the balances of the address are read after the payment expired',
    balance_checked_at: 'without it, the payment expires an hour later all the same',
    amount_forwarded: 'computed again from the forwards of the payment whenever one of them changes',
  },
};

export const paymentSealValues = sealedValues(fields);
