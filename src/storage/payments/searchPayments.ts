import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import {
  createParameters,
  equalities,
  hasStray,
  idsBetween,
  named,
  owned,
  type PaymentSearch,
  timesOf,
} from './listPayments.ts';

/** How far a search looks for parts of texts: the newest payments of the asked time. It costs the same beyond that. */
export const searchedPayments = 10_000;
/** A transaction may pay or sweep many. */
const exactHits = 20;

// Each by its own index. `or` over four columns would have no plan but to read them all.
const exactStatement = {
  name: 'payments-exact',
  text: `select distinct id from (
      (select id from payments where ${owned} and id = $3)
      union all
      (select id from payments where ${owned} and address = $4)
      union all
      (select id from payments where ${owned} and external_id = $3)
      union all
      (select payment_id from transfers where ${owned} and tx_hash = $5 limit ${exactHits})
      union all
      (select payment_id from forwards where ${owned} and tx_hash = $5 limit ${exactHits})
    ) found order by id desc limit ${exactHits}`,
};

export type WantedText = { readonly text: string; readonly address: string; readonly txHash: string };

/** Ids of the payments that have this id, address, transaction or externalId, however old they are. */
const exactMatches = async (db: Queryable, scope: Scope, wanted: WantedText): Promise<string[]> => {
  const values = [scope.accountId, scope.environment, wanted.text, wanted.address, wanted.txHash];
  return (await db.query<Row & { id: string }>(exactStatement, values)).map(row => row.id);
};

const patternOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

// As `json` each value is decoded, and no number is too large. Text cannot hold the character of code zero.
const containing = (pattern: string): string => `(external_id ilike ${pattern} or description ilike ${pattern}
    or metadata <> '{}' and exists (
      select from json_each_text(case when metadata like '%\\\\u0000%' then '{}' else metadata end::json) m
      where m.value ilike ${pattern}))`;

export type SearchPage = {
  readonly ids: readonly string[];
  readonly total: number;
  /** Whether older payments were left out. */
  readonly isCut: boolean;
};

/**
 * Payments by a text, or those with strays, the newest first. No index holds parts of texts and no total counts strays:
 * an index would be written with every payment. So a bounded number of the newest payments is looked at.
 */
export const searchPayments = async (
  db: Queryable,
  scope: Scope,
  filter: PaymentSearch,
  wanted: WantedText | null,
  page: { readonly limit: number; readonly offset: number },
): Promise<SearchPage> => {
  const { fromMs, toMs } = timesOf(filter);
  if (toMs < 0) return { ids: [], total: 0, isCut: false };
  const exact = wanted === null ? [] : await exactMatches(db, scope, wanted);
  const parameters = createParameters(scope);
  const range = `${owned}${filter.strayed ? ' and strayed' : ''}${idsBetween(fromMs, toMs, parameters)}`;
  const same = `${equalities(filter, parameters)}${filter.strayed ? ` and ${hasStray}` : ''}`;
  const matching = wanted === null ? '' : ` and ${containing(parameters.add(patternOf(wanted.text)))}`;
  const older =
    exact.length === 0
      ? ''
      : ` union select id from payments p where ${range}${same} and id = any(${parameters.add(exact)}::text[])`;
  const text = `with found as materialized (
      select id from (select * from payments where ${range} order by id desc limit ${searchedPayments}) p
      where true${same}${matching}${older}
    )
    select id, (select count(*)::int from found) as total, (select count(*) > ${searchedPayments}
        from (select from payments where ${range} order by id desc limit ${searchedPayments + 1}) n) as "isCut"
    from (values (true)) one left join
      (select id from found order by id desc limit ${parameters.add(page.limit)} offset ${parameters.add(page.offset)}) f on true
    order by id desc`;
  type Hit = Row & { id: string | null; total: number; isCut: boolean };
  const rows = await db.query<Hit>(named('payments-search', text), parameters.values);
  const { total, isCut } = rows[0]!;
  return { ids: rows.flatMap(({ id }) => id ?? []), total, isCut };
};
