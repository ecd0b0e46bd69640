import type { Queryable, Row } from '../database.ts';

export type Rescan = Row & {
  id: string;
  caip2: string;
  fromNumber: number | null;
  fromTime: Date | null;
  toNumber: number;
  address: string | null;
  reason: string;
  requestedAt: Date;
  nextNumber: number | null;
  found: number;
  fault: string | null;
  finishedAt: Date | null;
};

const columns = `id, caip2, from_number::float8 as "fromNumber", from_time as "fromTime", to_number::float8 as "toNumber",
  address, reason, requested_at as "requestedAt", next_number::float8 as "nextNumber", found, fault,
  finished_at as "finishedAt"`;

export type NewRescan = {
  readonly caip2: string;
  readonly from: number | Date;
  readonly to: number;
  readonly address: string | null;
  readonly reason: string;
};

const insertStatement = {
  name: 'rescan-insert',
  text: `insert into rescans (caip2, from_number, from_time, to_number, address, reason)
    values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
};
/** Asks for blocks to be read again. The process that holds the lease of the chain reads them. */
export const insertRescan = async (db: Queryable, rescan: NewRescan): Promise<Rescan> => {
  const { caip2, from, to, address, reason } = rescan;
  const [number, time] = typeof from === 'number' ? [from, null] : [null, from];
  return (await db.query<Rescan>(insertStatement, [caip2, number, time, to, address, reason]))[0]!;
};

const openStatement = {
  name: 'rescan-open',
  text: 'select 1 as open from rescans where caip2 = $1 and address = $2 and finished_at is null limit 1',
};
/** Whether blocks are going to be read again for an address. */
export const hasOpenRescan = async (db: Queryable, caip2: string, address: string): Promise<boolean> =>
  (await db.query(openStatement, [caip2, address])).length > 0;

const readStatement = { name: 'rescan-read', text: `select ${columns} from rescans where id = $1` };
export const readRescan = async (db: Queryable, id: string): Promise<Rescan | null> =>
  (await db.query<Rescan>(readStatement, [id]))[0] ?? null;

const nextStatement = {
  name: 'rescan-next',
  text: `select ${columns} from rescans where caip2 = $1 and finished_at is null
    order by fault is not null, id limit 1`,
};
/** The oldest rescan of a chain that is not finished. One that failed waits until no other is left. */
export const nextRescan = async (db: Queryable, caip2: string): Promise<Rescan | null> =>
  (await db.query<Rescan>(nextStatement, [caip2]))[0] ?? null;

const startStatement = {
  name: 'rescan-start',
  text: `update rescans r set from_number = $2, next_number = $2, to_number = e.to_number,
      finished_at = case when $2 > e.to_number then clock_timestamp() end
    from (
      select r.id, case when r.from_time is null then r.to_number else greatest(r.to_number, c.latest_number) end as to_number
      from rescans r left join chains c on c.caip2 = r.caip2 where r.id = $1
    ) e where r.id = e.id`,
};
/**
 * Begins at a height. One that reads since a time ends at the newest block: while a chain catches up, blocks above the
 * recorded ones have been compared with the addresses of that moment. Nothing is read ahead when a rescan begins.
 */
export const startRescan = async (db: Queryable, id: string, from: number): Promise<void> => {
  await db.query(startStatement, [id, from]);
};

const advanceStatement = {
  name: 'rescan-advance',
  text: `update rescans set next_number = $2, found = found + $3, fault = null,
      finished_at = case when $2 > to_number then clock_timestamp() end
    where id = $1 and finished_at is null`,
};
/** Records that all blocks below `next` were read again, with `found` new transfers since the last call. */
export const advanceRescan = async (tx: Queryable, id: string, next: number, found: number): Promise<void> => {
  await tx.query(advanceStatement, [id, next, found]);
};

const faultStatement = { name: 'rescan-fault', text: `update rescans set fault = $2 where id = $1` };
export const writeRescanFault = async (db: Queryable, id: string, fault: string): Promise<void> => {
  await db.query(faultStatement, [id, fault.slice(0, 1000)]);
};
