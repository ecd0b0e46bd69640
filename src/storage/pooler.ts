import type pg from 'pg';
import { type ConnectionSettings, createConnector } from './connect.ts';

const backendQuery = 'select pg_backend_pid() as pid';
const answerTimeoutMs = 5_000;
const rounds = 8;

const backendOf = async (client: pg.Client): Promise<number> => {
  const query = { text: backendQuery, query_timeout: answerTimeoutMs };
  return (await client.query<{ pid: number }>(query)).rows[0]!.pid;
};

/** A server announces a process to each connection. A pooler announces numbers of its own. */
const isDirect = async (client: pg.Client): Promise<boolean> =>
  (client as pg.Client & { readonly processID: number | null }).processID === (await backendOf(client));

/**
 * Whether a pooler gives a connection to another process of the server from one transaction to the next. Then statements that
 * were prepared are not found, settings are those of somebody else, and nothing can be listened to or locked for long. Two
 * connections ask in turn, in an order that shows it also to poolers that take their connections in rounds.
 */
export const isTransactionPooled = async (connection: ConnectionSettings): Promise<boolean> => {
  const connector = createConnector(connection);
  const one = await connector.connect();
  try {
    if (await isDirect(one)) return false;
    const other = await connector.connect();
    try {
      const [first, second] = [await backendOf(one), await backendOf(other)];
      for (let round = 0; round < rounds; round++) {
        const later = [await backendOf(other), await backendOf(one), await backendOf(one), await backendOf(other)];
        if (first === second || later.join() !== [second, first, first, second].join()) return true;
      }
      return false;
    } finally {
      await other.end().catch(() => {});
    }
  } finally {
    await one.end().catch(() => {});
  }
};
