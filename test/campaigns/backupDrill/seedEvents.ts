import pg from 'pg';
import { sealEvent } from '../../../src/engine/webhooks/eventSeal.ts';
import type { PostgresConnection } from '../../../src/local/postgres/startPostgres.ts';
import { loadMasterKey } from '../../../src/vault/masterKey.ts';
import { createVault } from '../../../src/vault/vault.ts';

const pageRows = 10_000;
/** About what an event of a payment takes. */
const padding = 'x'.repeat(900);

const createdPage = `select id, created_at as "createdAt" from payments
  where account_id = $1 and environment = 'sandbox' and id > $2 order by id limit ${pageRows}`;
const insertEvents = `insert into events (account_id, environment, id, payment_id, sequence, type, status, body, created_at, row_seal)
  select $1, 'sandbox', e.id, e.payment_id, 1, 'payment.created', 'pending', e.body, e.created_at, e.seal
  from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bytea[]) as e(id, payment_id, body, created_at, seal)
  on conflict do nothing`;

/** Gives each payment of an account its first event, as Florin would have written it. */
export const seedEvents = async (
  { dataDir, accountId }: { readonly dataDir: string; readonly accountId: string },
  superuser: PostgresConnection,
): Promise<void> => {
  const vault = createVault(await loadMasterKey({ dataDir }));
  const client = new pg.Client({ ...superuser, database: 'florin' });
  await client.connect();
  try {
    for (let after = ''; ; ) {
      const { rows } = await client.query<{ id: string; createdAt: Date }>(createdPage, [accountId, after]);
      const events = rows.map(({ id: paymentId, createdAt }) => {
        const event = {
          accountId,
          environment: 'sandbox' as const,
          id: `evt_${paymentId.slice(4)}`,
          paymentId,
          sequence: 1,
          type: 'payment.created' as const,
          status: 'pending' as const,
          exception: null,
          previousStatus: null,
          previousException: null,
          body: JSON.stringify({ id: `evt_${paymentId.slice(4)}`, type: 'payment.created', data: { padding } }),
          createdAt,
        };
        return { ...event, seal: sealEvent(vault, event) };
      });
      await client.query(insertEvents, [
        accountId,
        events.map(({ id }) => id),
        events.map(({ paymentId }) => paymentId),
        events.map(({ body }) => body),
        events.map(({ createdAt }) => createdAt),
        events.map(({ seal }) => seal),
      ]);
      if (rows.length < pageRows) return;
      after = rows.at(-1)!.id;
    }
  } finally {
    await client.end();
  }
};
