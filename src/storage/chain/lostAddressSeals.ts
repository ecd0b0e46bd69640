import type { LargeTable, RowSealer } from '../largeSeals.ts';

const table = 'lost_addresses';

export type LostAddress = {
  readonly address: string;
  readonly accountId: string;
  readonly environment: 'production' | 'sandbox';
  readonly walletKind: 'forwarder' | 'xpub';
  readonly treasury: string;
  readonly index: bigint;
};

export const lostAddressSeals: LargeTable = {
  table,
  key: ['address'],
  values: [
    't.address',
    't.account_id',
    't.environment::text',
    't.wallet_kind',
    't.treasury',
    't.derivation_index::text',
  ],
  covered: ['address', 'account_id', 'environment', 'wallet_kind', 'treasury', 'derivation_index'],
  open: { noted_at: 'shown only' },
};

export const sealLostAddress = (sealer: RowSealer, lost: LostAddress): Buffer =>
  sealer.rowSeal(table, [
    lost.address,
    lost.accountId,
    lost.environment,
    lost.walletKind,
    lost.treasury,
    lost.index.toString(),
  ]);
