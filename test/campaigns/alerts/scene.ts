import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openAdmin, openStorage } from '../../../src/cli/compose.ts';
import { loadConfig } from '../../../src/cli/config.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { AdminContext } from '../../../src/engine/access/accounts.ts';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { type Receiver, startReceiver } from '../../deliveries/receiver.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../mail/smtpReceiver.ts';
import { canMount, mountSmallDisk } from '../../support/smallDisk.ts';
import { type Api, createApi } from '../chaos/api.ts';
import {
  type FlorinProcess,
  findPostmaster,
  launchFlorin,
  runFlorin,
  stopFlorin,
  within,
} from '../chaos/florinProcess.ts';

const run = promisify(execFile);
const readyTimeoutMs = 120_000;
const diskMb = 500;

/** A Florin in a process of its own, with what it talks to. */
export type AlertScene = {
  readonly dataDir: string;
  /** Where scheduled backups go. */
  readonly backupDir: string;
  readonly receiver: Receiver;
  readonly accountId: () => string;
  /** Whether the data directory is on a disk of its own, which takes the right to mount. */
  readonly isDiskSmall: boolean;
  api(): Api;
  pid(): number;
  start(roles: string, settings?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
  /** Works beside the server, with the rights of the service. */
  withAdmin<T>(work: (admin: AdminContext) => Promise<T>): Promise<T>;
  /** Changes the database as a thief would who is its superuser. */
  asSuperuser(sql: string): Promise<void>;
  /** The processes of the embedded server, its parent first. */
  postgresPids(): Promise<number[]>;
  command(...args: string[]): Promise<Record<string, unknown>>;
  end(): Promise<void>;
};

/** Nothing listens there. */
const deadNode = 'http://127.0.0.1:9/';

export const createAlertScene = async (room: string, metricsPort: number): Promise<AlertScene> => {
  const ending = new AsyncDisposableStack();
  const dataDir = join(room, 'data');
  if (canMount) ending.defer(await mountSmallDisk(dataDir, diskMb));
  else await mkdir(dataDir, { recursive: true });
  await writeFile(
    join(room, 'florin.config.json'),
    JSON.stringify({ networks: { sandbox: { polygon: { rpcUrls: [deadNode] } } } }),
  );
  const receiver = await startReceiver();
  ending.defer(receiver.close);
  const mails: SmtpReceiver = await startSmtpReceiver();
  ending.defer(mails.close);
  mails.mood = () => 'refuse person';
  const env = {
    FLORIN_METRICS_PORT: String(metricsPort),
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    FLORIN_MAIL_FROM: 'florin@shop.example',
  };
  let running: { readonly florin: FlorinProcess; readonly api: Api } | null = null;
  let merchant: { readonly accountId: string; readonly key: string } | null = null;
  const command = (...args: string[]) => runFlorin(dataDir, args, { cwd: room, env });

  const enrol = async () => {
    const { id } = await command('accounts', 'create', '--name', 'Alerts', '--plan', 'starter');
    const keyOf = (environment: string) =>
      command('keys', 'create', '--account', id as string, '--environment', environment, '--name', 'alerts');
    // A live key is what a review after a restore is about.
    await keyOf('production');
    return { accountId: id as string, key: (await keyOf('sandbox')).key as string };
  };

  const stop = async (): Promise<void> => {
    if (running === null) return;
    running.api.close();
    await stopFlorin(running.florin, dataDir);
    running = null;
  };
  ending.defer(stop);
  return {
    dataDir,
    backupDir: join(room, 'backups'),
    receiver,
    accountId: () => merchant!.accountId,
    isDiskSmall: canMount,
    api: () => running!.api,
    pid: () => running!.florin.pid,
    async start(roles, settings = {}) {
      const florin = launchFlorin(dataDir, [], { cwd: room, env: { ...env, ...settings, FLORIN_ROLES: roles } });
      const ready = await within(florin.ready, readyTimeoutMs);
      if (ready === null) throw new Error(`Florin did not start:\n${florin.output()}`);
      merchant ??= await enrol();
      running = { florin, api: createApi({ url: ready.sandboxUrl, ca: ready.ca, key: merchant.key }) };
    },
    stop,
    async withAdmin(work) {
      const config = await loadConfig({ env: { FLORIN_DATA_DIR: dataDir }, cwd: room });
      const storage = await openStorage(config, silentLog);
      try {
        return await work(await openAdmin(config, storage));
      } finally {
        await storage.stop();
      }
    },
    async asSuperuser(sql) {
      const superuser = (await findSuperuser({ dataDir }))!;
      const db = openDatabase({ ...superuser, database: 'florin' }, { log: silentLog, maxConnections: 1 });
      try {
        await db.script(sql);
      } finally {
        await db.close();
      }
    },
    async postgresPids() {
      const parent = await findPostmaster(dataDir);
      const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(parent)]);
      return [parent!, ...stdout.trim().split(/\s+/).map(Number)];
    },
    command,
    end: () => ending.disposeAsync(),
  };
};
