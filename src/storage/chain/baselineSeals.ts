import { isSealedAs, type LargeTable, msText, type RowSealer } from '../largeSeals.ts';

const table = 'address_baselines';

export type BaselineFacts = {
  readonly caip2: string;
  readonly address: string;
  /** Base units, as text. */
  readonly amount: string;
  readonly blockNumber: number;
  readonly readAtMs: number;
};

const valuesOf = ({ caip2, address, amount, blockNumber, readAtMs }: BaselineFacts): string[] => [
  caip2,
  address,
  amount,
  String(blockNumber),
  String(readAtMs),
];

export const baselineSeals: LargeTable = {
  table,
  key: ['caip2', 'address'],
  values: ['t.caip2', 't.address', 't.amount::text', 't.block_number::text', msText('t.read_at')],
  covered: ['caip2', 'address', 'amount', 'block_number', 'read_at'],
  open: {},
};

export const sealBaseline = (sealer: RowSealer, facts: BaselineFacts): Buffer => sealer.rowSeal(table, valuesOf(facts));

/** A baseline as JSON from the database. */
export type StoredBaseline = BaselineFacts & { readonly seal: string | null };

/** For the alias a. */
export const baselineJson = `json_build_object('caip2', a.caip2, 'address', a.address, 'amount', a.amount::text,
  'blockNumber', a.block_number, 'readAtMs', (extract(epoch from a.read_at) * 1000)::bigint,
  'seal', encode(a.row_seal, 'hex'))`;

/** Whether Florin wrote the baseline as it is. */
export const isBaselineGenuine = (sealer: RowSealer, baseline: StoredBaseline): boolean =>
  isSealedAs(sealer, table, valuesOf(baseline), baseline.seal);
