import type { LargeTable } from './largeSeals.ts';

/** How a column is printed: as text, a time as milliseconds, bytes as hexadecimal digits, or by SQL for the alias t. */
type Printed = 'text' | 'time' | 'bytes' | { readonly sql: string };

/** The columns that a seal covers, in order. What is read from a row is what SQL prints, or every row would be refused. */
export type SealedFields<R> = Readonly<Record<string, readonly [printed: Printed, read: (row: R) => string | null]>>;

const sqlOf = (name: string, printed: Printed): string => {
  if (typeof printed !== 'string') return printed.sql;
  if (printed === 'time') return `(extract(epoch from t.${name}) * 1000)::bigint::text`;
  return printed === 'bytes' ? `encode(t.${name}, 'hex')` : `t.${name}::text`;
};

export const sealedColumns = (fields: SealedFields<never>): Pick<LargeTable, 'covered' | 'values'> => ({
  covered: Object.keys(fields),
  values: Object.entries(fields).map(([name, [printed]]) => sqlOf(name, printed)),
});

/** What the seal of a row covers. */
export const sealedValues = <R>(fields: SealedFields<R>): ((row: R) => (string | null)[]) => {
  const reads = Object.values(fields).map(([, read]) => read);
  return row => reads.map(read => read(row));
};

export const msOf = (time: Date | null): string | null => (time === null ? null : String(time.getTime()));
export const textOf = (number: number | null): string | null => (number === null ? null : String(number));
