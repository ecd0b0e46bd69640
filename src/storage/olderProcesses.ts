import type pg from 'pg';
import { goneAfterSeconds } from './keys/keyState.ts';

export type OlderProcess = { readonly holder: string; readonly roles: string | null; readonly knows: number };

/**
 * Processes that run and do not know migration `version`. The table may be missing, or lack the columns that say what a
 * process knows: then it is of the release before them, as one that has changed `seen_at` alone.
 */
export const listOlderProcesses = async (
  client: pg.Client,
  version: number,
  except: string | undefined,
): Promise<OlderProcess[]> => {
  const { rows } = await client.query(`select to_regclass('key_holders') is not null as "hasTable"`);
  if (!rows[0].hasTable) return [];
  const found = await client.query<OlderProcess>(
    `select holder, roles, knows
      from (select holder, seen_at, row->>'roles' as roles,
          case when row->>'knows_at' = row->>'seen_at' then (row->>'knows')::integer else 0 end as knows
        from (select holder, seen_at, to_jsonb(h) as row from key_holders h) as rows) as processes
      where seen_at > clock_timestamp() - interval '${goneAfterSeconds} seconds'
        and split_part(holder, '.', 1) is distinct from $1 and knows < $2
      order by holder limit 100`,
    [except ?? null, version],
  );
  return found.rows;
};

/** For people: the file `instance` of the data directory has the same name. */
export const namesOf = (processes: readonly OlderProcess[]): string =>
  processes.map(({ holder, roles }) => (roles === null ? holder : `${holder} (${roles})`)).join(', ');
