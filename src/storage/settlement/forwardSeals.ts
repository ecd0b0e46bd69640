import type { PlacedInBlock } from '../chain/blockSeals.ts';
import { isSealedAs, type LargeTable, type RowSealer } from '../largeSeals.ts';

const table = 'forwards';

/** What the seal of a forward covers. A forward is bound to its payment by the payment's address. */
export type ForwardFacts = {
  readonly caip2: string;
  readonly key: string;
  readonly address: string;
  readonly contract: string | null;
  /** Base units, as text. */
  readonly amount: string;
  readonly blockHash: string;
  readonly blockNumber: number;
  readonly verified: boolean;
  readonly txHash: string | null;
};

const valuesOf = (facts: ForwardFacts): (string | null)[] => [
  facts.caip2,
  facts.key,
  facts.address,
  facts.contract,
  facts.amount,
  facts.blockHash,
  String(facts.blockNumber),
  String(facts.verified),
  facts.txHash,
];

export const forwardSeals: LargeTable = {
  table,
  key: ['caip2', 'key'],
  values: [
    't.caip2',
    't.key',
    `(select p.address from payments p
      where p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id)`,
    't.contract',
    't.amount::text',
    't.block_hash',
    't.block_number::text',
    't.verified::text',
    't.tx_hash',
  ],
  covered: [
    ...['caip2', 'key', 'account_id', 'environment', 'payment_id', 'contract', 'amount', 'block_hash', 'block_number'],
    ...['verified', 'tx_hash'],
  ],
  open: {
    canonical: 'is compared with the block of the forward',
    recorded_at: 'shown only',
  },
};

export const sealForward = (sealer: RowSealer, facts: ForwardFacts): Buffer => sealer.rowSeal(table, valuesOf(facts));

export type StoredForward = Omit<ForwardFacts, 'address'> & {
  /** Whether it is canonical exactly if its block is. */
  readonly isAsBlock: boolean;
  readonly seal: string | null;
} & PlacedInBlock;

/** For the aliases f and b, its block. */
export const forwardJson = `json_build_object('caip2', f.caip2, 'key', f.key, 'contract', f.contract,
  'amount', f.amount::text, 'blockHash', f.block_hash, 'blockNumber', f.block_number, 'verified', f.verified,
  'txHash', f.tx_hash, 'isAsBlock', f.canonical = b.canonical, 'seal', encode(f.row_seal, 'hex'),
  'blockTimeMs', (extract(epoch from b.timestamp) * 1000)::bigint, 'parentHash', b.parent_hash, 'branch', b.branch,
  'blockSeal', encode(b.row_seal, 'hex'))`;

/** Whether Florin wrote the forward as it is, from a payment's address. */
export const isForwardGenuine = (sealer: RowSealer, forward: StoredForward, address: string): boolean =>
  forward.isAsBlock && isSealedAs(sealer, table, valuesOf({ ...forward, address }), forward.seal);
