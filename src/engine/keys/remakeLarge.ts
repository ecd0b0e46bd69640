import type { Environment } from '../../core/environment.ts';
import { type RemadeRow, writeRemadeRows } from '../../storage/keys/remadeRows.ts';
import { type LargeRow, type LargeTable, readLargeRows } from '../../storage/largeSeals.ts';
import type { PaymentSeal } from '../../vault/vault.ts';
import { answerContext } from '../idempotency.ts';
import { forged, type Remaking, type Round, remakePageRows, resealed } from './remaking.ts';

type Values = Readonly<Record<string, string | null>>;

const paymentSealOf = (v: Values): PaymentSeal => ({
  id: v.id!,
  accountId: v.account_id!,
  environment: v.environment as Environment,
  caip2: v.caip2!,
  contract: v.contract!,
  amount: BigInt(v.amount!),
  decimals: Number(v.decimals),
  currency: v.currency!,
  network: v.network!,
  walletKind: v.wallet_kind!,
  treasury: v.treasury!,
  index: BigInt(v.derivation_index!),
  address: v.address!,
});

/** A column that is made with the key and covered by the seal of its row. */
type Part = {
  readonly column: string;
  /** The bytes under the next key; null if the row has none. */
  readonly remake: (remaking: Remaking, bytes: Buffer, values: Values) => Buffer | typeof forged;
};

const parts: Readonly<Record<string, Part>> = {
  payments: {
    column: 'mac',
    remake({ former, next }, mac, values) {
      const fields = paymentSealOf(values);
      if (next.verifyPaymentMac(fields, mac)) return mac;
      return former.verifyPaymentMac(fields, mac) ? next.paymentMac(fields) : forged;
    },
  },
  idempotency_keys: {
    column: 'sealed_response',
    remake: (remaking, sealed, v) =>
      resealed(
        remaking,
        sealed,
        answerContext(
          { accountId: v.account_id!, environment: v.environment as Environment },
          { route: v.route!, key: v.key! },
        ),
      ),
  },
};

/** The columns of large tables with values that are made with the master key. */
export const largeKeyedColumns = Object.entries(parts).map(([table, { column }]) => `${table}.${column}`);

/** A row under the next key; null if it is that already. */
const remadeRow = (
  remaking: Remaking,
  { table, covered }: LargeTable,
  { key, values, seal }: LargeRow,
): RemadeRow | typeof forged | null => {
  if (values === null) return null;
  const { former, next } = remaking;
  const was = Buffer.from(seal ?? '', 'hex');
  const isNext = next.isRowSeal(table, values, was);
  if (!isNext && !former.isRowSeal(table, values, was)) return forged;
  const part = parts[table];
  const at = part ? covered.indexOf(part.column) : -1;
  if (part === undefined || values[at] === null) {
    return isNext ? null : { key, was, seal: next.rowSeal(table, values), part: null };
  }
  const named = Object.fromEntries(covered.map((name, i) => [name, values[i]!]));
  const bytes = Buffer.from(values[at]!, 'hex');
  const remade = part.remake(remaking, bytes, named);
  if (remade === forged) return forged;
  if (isNext && remade.equals(bytes)) return null;
  return { key, was, seal: next.rowSeal(table, values.with(at, remade.toString('hex'))), part: remade };
};

/** Seals the rows of a large table anew. */
export const remakeLargeTable = async (remaking: Remaking, large: LargeTable, round: Round): Promise<void> => {
  const { table, key } = large;
  let rows = 0;
  for (let after: string | null = null; ; ) {
    const page: LargeRow[] = await readLargeRows(remaking.db, large, { after, limit: remakePageRows, all: true });
    const remade: RemadeRow[] = [];
    for (const row of page) {
      const result = remadeRow(remaking, large, row);
      if (result === forged) round.forged.push(`${table} ${Object.values(JSON.parse(row.key)).join(' ')}`);
      else if (result !== null) remade.push(result);
    }
    const part = parts[table]?.column ?? null;
    const written = await writeRemadeRows(remaking.db, { table, key, part }, remade);
    round.remade += written;
    round.left += remade.length - written;
    rows += page.length;
    remaking.progress(table, rows);
    if (page.length < remakePageRows) return;
    after = page.at(-1)!.key;
  }
};
