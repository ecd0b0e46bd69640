import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { type Api, createApi } from '../chaos/api.ts';
import {
  type FlorinProcess,
  launchFlorin,
  type Ready,
  runFlorin,
  type Surroundings,
  within,
} from '../chaos/florinProcess.ts';
import { type ChainRpc, createChainRpc } from './chainRpc.ts';
import type { Asset } from './customers.ts';
import { localChainId } from './world.ts';

const localCaip2 = `eip155:${localChainId}`;
const slugs = ['ethereum', 'polygon', 'base', 'arbitrum', 'optimism', 'bsc', 'avalanche'];
const readyTimeoutMs = 90_000;
const lookMs = 4;

export type Room = { readonly room: string; readonly dataDir: string; readonly surroundings: Surroundings };

/** A directory to start Florin in, with a file that asks for this depth on every network, and names nodes for some. */
export const makeRoom = async (
  name: string,
  depth: number,
  env: NodeJS.ProcessEnv = {},
  networks: Readonly<Record<string, object>> = {},
): Promise<Room> => {
  const room = await mkdtemp(join(tmpdir(), `florin-${name}-`));
  const dataDir = join(room, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  const sandbox = Object.fromEntries(slugs.map(slug => [slug, { rule: { kind: 'depth', depth }, ...networks[slug] }]));
  await writeFile(join(room, 'florin.config.json'), JSON.stringify({ networks: { sandbox } }));
  return { room, dataDir, surroundings: { cwd: room, env } };
};

export const removeRoom = ({ room }: Room): Promise<void> => rm(room, { recursive: true, force: true, maxRetries: 5 });

export type Running = { readonly florin: FlorinProcess; readonly ready: Ready; readonly rpc: ChainRpc };

export const startIn = async ({ dataDir, surroundings }: Room): Promise<Running> => {
  const florin = launchFlorin(dataDir, [], surroundings);
  const ready = await within(florin.ready, readyTimeoutMs);
  if (!ready) {
    sendSignal(florin.pid, 'SIGKILL');
    throw new Error(`Florin was not ready within ${readyTimeoutMs} ms:\n${florin.output()}`);
  }
  const { port } = JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')) as { port: number };
  return { florin, ready, rpc: createChainRpc(`http://127.0.0.1:${port}`) };
};

/** An account whose limits are out of the way, and a key of its own. */
export const enrol = async ({ dataDir, surroundings }: Room): Promise<string> => {
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Campaign', ...wide], surroundings);
  const { key } = await runFlorin(
    dataDir,
    ['keys', 'create', '--account', String(id), '--name', 'campaign'],
    surroundings,
  );
  return String(key);
};

export const openApi = ({ ready }: Running, key: string): Api =>
  createApi({ url: ready.sandboxUrl, ca: ready.ca, key, maxSockets: 8 });

type Listed = { slug: string; currencies: { symbol: string; decimals: number; contractAddress: string | null }[] };

/** Every currency of every network, as the API tells it. */
export const readAssets = async (api: Api): Promise<Asset[]> => {
  const { body } = await api.call('GET', '/v1/networks');
  return (body.data as Listed[]).flatMap(({ slug, currencies }) =>
    currencies.map(({ symbol, decimals, contractAddress }) => ({
      network: slug,
      symbol,
      decimals,
      contract: contractAddress?.toLowerCase() ?? null,
    })),
  );
};

/** A connection beside the service's own. Reads of a check see one moment. */
export const openTables = async (connection: pg.ClientConfig, caip2 = localCaip2) => {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  const inOneMoment = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    await client.query('begin isolation level repeatable read');
    try {
      return await work(client);
    } finally {
      await client.query('rollback');
    }
  };
  return {
    client,
    inOneMoment,
    close: () => client.end(),
    /** Waits until the watcher stands on the head, which may move meanwhile: the node mines a few blocks by itself. */
    async untilRead(headHash: () => Promise<string>, timeoutMs: number): Promise<void> {
      const beganMs = performance.now();
      let hash = await headHash();
      for (let looks = 1; ; looks++) {
        const { rows } = await client.query('select latest_hash, halt_reason from chains where caip2 = $1', [caip2]);
        if (rows[0]?.latest_hash === hash) return;
        if (rows[0]?.halt_reason) throw new Error(`the chain is halted: ${rows[0].halt_reason}`);
        if (performance.now() - beganMs > timeoutMs) {
          throw new Error(`the watcher stands on ${rows[0]?.latest_hash}, not on ${hash}, after ${timeoutMs} ms`);
        }
        await pause(lookMs);
        if (looks % 25 === 0) hash = await headHash();
      }
    },
    /**
     * Waits until no payment waits for a height that is reached, nor for an instant that is over, and all that stands is
     * verified: the ledger has nothing else.
     */
    async untilDecided(timeoutMs: number): Promise<void> {
      const endMs = performance.now() + timeoutMs;
      const began = (await client.query('select clock_timestamp() as now')).rows[0].now;
      for (;;) {
        const { rows } = await client.query(
          `select c.caught_up_at > $2 and c.coins_caught_up_at > $2 as read, (
             select count(*)::int from payments p
             where p.caip2 = c.caip2 and (p.wake_number <= c.latest_number or p.wake_at <= $2)
           ) as due, exists (
             select from transfers t where t.caip2 = c.caip2 and t.canonical and not t.superseded and not t.verified
           ) as unverified from chains c where c.caip2 = $1`,
          [caip2, began],
        );
        if (rows[0]?.read && rows[0].due === 0 && !rows[0].unverified) return;
        if (performance.now() > endMs)
          throw new Error(
            `payments were left undecided, or transfers unverified, for ${timeoutMs} ms: ${JSON.stringify(rows)}`,
          );
        await pause(50);
      }
    },
  };
};

export type TablesConnection = Awaited<ReturnType<typeof openTables>>;
