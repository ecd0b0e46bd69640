import { cp, mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDevPayer } from '../../../src/chains/evm/devPayer.ts';
import { callRpc } from '../../../src/chains/evm/rpc.ts';
import { readBackupRecord, writeBackupRecord } from '../../../src/cli/backupRecord.ts';
import { findLocalRpcUrl } from '../../../src/cli/localRpcUrl.ts';
import { readLogArchiveRecord, writeLogArchiveRecord } from '../../../src/cli/logArchiveRecord.ts';
import { addPerson } from '../../../src/engine/access/people.ts';
import { operatorActor } from '../../../src/engine/audit/audit.ts';
import { perform } from '../../../src/engine/perform.ts';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { requestRounds } from '../../../src/storage/settlement/reconciliation.ts';
import { answering } from '../../deliveries/receiver.ts';
import { makeNotices } from '../mailFaults/mailFaultRun.ts';
import type { AlertScene } from './scene.ts';

/** Prometheus scrapes each second. */
const scrapedMs = 3_000;

/** What makes alerts fire, and what ends it. Each is done by somebody or something outside of Florin. */
export type Cause = {
  readonly alerts: readonly string[];
  /** What the labels of these alerts must say, beside what they say of every Florin. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly what: string;
  /** How long the alerts may take at least, if they tell of something that has lasted for minutes. */
  readonly takesSeconds?: number;
  /** Goes on until the alerts have fired. */
  readonly begin: (scene: AlertScene, signal: AbortSignal) => Promise<void>;
  readonly end?: (scene: AlertScene) => Promise<void>;
};

const payment = { amount: '25', currency: 'USDC', network: 'base' };
const pay = async (scene: AlertScene, more: object = {}): Promise<{ id: string; address: string }> => {
  const { status, body } = await scene.api().call('POST', '/v1/payments', { body: { ...payment, ...more } });
  if (status !== 200) throw new Error(`a payment was refused: ${JSON.stringify(body)}`);
  return body as { id: string; address: string };
};
const withCallback = (scene: AlertScene) => pay(scene, { callbackUrl: scene.receiver.url });

const cluster = (scene: AlertScene): string => join(scene.dataDir, 'postgres', 'cluster');
const copyOf = (scene: AlertScene): string => join(scene.dataDir, 'copy-of-cluster');
const filler = (scene: AlertScene): string => join(scene.dataDir, 'filler');

/** An address that the restored database does not know. */
let lostAddress = '';

const signalPostgres = async (scene: AlertScene, signal: NodeJS.Signals): Promise<void> => {
  for (const pid of await scene.postgresPids()) sendSignal(pid, signal);
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

/** A reorg within the 256 blocks that are kept is followed. */
const moreThanKept = 300;
const latest = { name: '', text: 'select latest_number::int as number, halted_at is not null as halted from chains' };

/** Pays, with a block for each payment, until Florin has read this many blocks, or reads no more. */
const mineUpTo = async (scene: AlertScene, height: number, signal: AbortSignal): Promise<void> => {
  const payer = createDevPayer((await findLocalRpcUrl(scene.dataDir))!);
  await scene.withAdmin(async ({ db }) => {
    while (!signal.aborted) {
      for (let count = 0; count < 20; count++) await payer.pay({ to: lostAddress, token: null, amount: 1n });
      const rows = await db.query<{ number: number | null; halted: boolean }>(latest);
      if (rows.some(({ number, halted }) => halted || (number ?? 0) >= height)) return;
    }
  });
};

/** Takes coin from an address without a transfer, as a chain does not do, and asks for a comparison. */
const takeCoin = async (scene: AlertScene, signal: AbortSignal): Promise<void> => {
  const { address, id } = await pay(scene, { amount: '1', currency: 'ETH' });
  const rpcUrl = (await findLocalRpcUrl(scene.dataDir))!;
  await createDevPayer(rpcUrl).pay({ to: address, token: null, amount: 10n ** 18n });
  const read = () => scene.api().call('GET', `/v1/payments/${id}`);
  while (!signal.aborted && (await read()).body.status !== 'completed') await pause(500);
  await callRpc(rpcUrl, 'hardhat_setBalance', [address, '0x0']);
  await callRpc(rpcUrl, 'evm_mine', []);
  await scene.withAdmin(async ({ db }) => void (await requestRounds(db)));
};

const hourMs = 3_600_000;

/** Takes a scheduled backup and archives the log, lets both be old, and takes the disk of the backups away. */
const loseBackups = async (scene: AlertScene, signal: AbortSignal): Promise<void> => {
  const { recipient } = await scene.command('backup', 'identity', '--output', `${scene.backupDir}.identity`);
  const settings = {
    FLORIN_BACKUP_DIR: scene.backupDir,
    FLORIN_BACKUP_RECIPIENT: recipient as string,
    FLORIN_BACKUP_HOURS: '12',
    FLORIN_BACKUP_LOG_SECONDS: '10',
  };
  await mkdir(scene.backupDir);
  await scene.stop();
  await scene.start('api,watch', settings);
  const read = () => readBackupRecord(scene);
  while (!signal.aborted && (await read()).last === null) await pause(500);
  while (!signal.aborted && !(await readLogArchiveRecord(scene))?.archivedAt) await pause(500);
  await scene.stop();
  const { last, ...record } = await read();
  if (last === null) throw new Error('no backup was taken');
  // Nobody can wait for this.
  const backupAt = new Date(Date.parse(last.backupAt) - 27 * hourMs).toISOString();
  await writeBackupRecord(scene, { ...record, last: { ...last, backupAt } });
  const archive = await readLogArchiveRecord(scene);
  if (archive === null) throw new Error('the log was not archived');
  await writeLogArchiveRecord(scene, { ...archive, archivedAt: new Date(Date.now() - hourMs).toISOString() });
  await rm(scene.backupDir, { recursive: true });
  await scene.start('api,watch', settings);
};

export const causes: readonly Cause[] = [
  {
    alerts: ['FlorinChainNotOperational', 'FlorinNodeFaults'],
    labels: {
      FlorinChainNotOperational: { network: 'polygon' },
      FlorinNodeFaults: { network: 'polygon', node: '1' },
    },
    what: 'the only node of a network does not answer',
    begin: async scene => scene.start('api,watch'),
  },
  {
    alerts: ['FlorinRestarting'],
    what: 'Florin is stopped and started again and again',
    takesSeconds: 240,
    async begin(scene, signal) {
      for (let count = 0; count < 6 && !signal.aborted; count++) {
        await scene.stop();
        await scene.start('api,watch');
        // Prometheus knows only of starts that it sees.
        await pause(scrapedMs, undefined, { signal }).catch(() => {});
      }
    },
  },
  {
    alerts: ['FlorinLimitsNotShared'],
    what: 'nothing listens where Redis should be',
    async begin(scene, signal) {
      await scene.stop();
      await scene.start('api,watch', { REDIS_URL: 'redis://127.0.0.1:9' });
      while (!signal.aborted) {
        await scene.api().call('GET', '/v1/networks');
        await pause(scrapedMs, undefined, { signal }).catch(() => {});
      }
    },
    async end(scene) {
      await scene.stop();
      await scene.start('api,watch');
    },
  },
  {
    alerts: ['FlorinDeliveriesLate'],
    what: 'no process has the role deliver',
    begin: async scene => void (await withCallback(scene)),
  },
  {
    alerts: ['FlorinSealRefused'],
    what: 'somebody changes the amount of a payment in the database',
    async begin(scene) {
      const { id } = await pay(scene);
      await scene.asSuperuser(`begin; alter table payments disable trigger payments_frozen;
        update payments set amount = 1 where id = '${id}';
        alter table payments enable trigger payments_frozen; commit`);
      await scene.api().call('GET', `/v1/payments/${id}`);
    },
  },
  {
    alerts: ['FlorinEventLoopSlow'],
    what: 'the process gets the CPU for a fraction of the time',
    async begin(scene, signal) {
      while (!signal.aborted) {
        sendSignal(scene.pid(), 'SIGSTOP');
        await pause(450);
        sendSignal(scene.pid(), 'SIGCONT');
        await pause(60);
      }
    },
  },
  {
    alerts: ['FlorinDiskFilling'],
    what: 'the disk of the data directory fills up',
    async begin(scene) {
      if (!scene.isDiskSmall) throw new Error('no small disk can be made here');
      const { bavail, blocks, bsize } = await statfs(scene.dataDir);
      const part = Buffer.alloc(2 ** 20, 1);
      const file = await open(filler(scene), 'w');
      for (let left = (bavail - blocks * 0.07) * bsize; left > 0; left -= part.length) await file.write(part);
      await file.close();
    },
    end: scene => rm(filler(scene)),
  },
  {
    alerts: ['FlorinDifferenceOpen'],
    what: 'the coin of a payment is gone without a transfer',
    begin: takeCoin,
  },
  {
    alerts: ['FlorinBackupOld', 'FlorinBackupFailing', 'FlorinLogArchiveLate'],
    what: 'scheduled backups have failed for a day, and the log is not archived',
    begin: loseBackups,
  },
  {
    alerts: ['FlorinChainNotRead'],
    labels: { FlorinChainNotRead: { network: 'local' } },
    what: 'no process has the role watch',
    takesSeconds: 300,
    async begin(scene) {
      await scene.stop();
      await scene.start('api,deliver');
    },
  },
  {
    alerts: ['FlorinDeliveriesFailing', 'FlorinDeliveriesParked'],
    what: 'a receiver fails, and one wants no more',
    async begin(scene) {
      await scene.stop();
      await cp(cluster(scene), copyOf(scene), { recursive: true, preserveTimestamps: true });
      scene.receiver.answer = answering(500);
      await scene.start('api,watch,deliver');
      for (let count = 0; count < 4; count++) await withCallback(scene);
      scene.receiver.answer = answering(410);
      lostAddress = (await withCallback(scene)).address;
    },
  },
  {
    alerts: ['FlorinOutboxParked'],
    labels: { FlorinOutboxParked: { kind: 'mail' } },
    what: 'the mail server refuses a person',
    begin: scene =>
      scene.withAdmin(async admin => {
        const accountId = scene.accountId();
        const owner = { accountId, email: 'owner@alerts.example', name: 'Owner', role: 'owner' } as const;
        const acting = {
          scope: { accountId, environment: 'production' },
          actor: operatorActor,
          address: null,
        } as const;
        const deed = { action: 'person.joined', subject: owner.email, detail: {} } as const;
        await perform(admin, acting, null, async tx => {
          await addPerson(admin, tx, { ...owner, passwordHash: null });
          return { value: null, deed };
        });
        await makeNotices(admin, [accountId], 1);
      }),
  },
  {
    alerts: ['FlorinDatabasePoolFull', 'FlorinErrors', 'FlorinSlow'],
    what: 'somebody locks a table',
    begin: (scene, signal) =>
      scene.withAdmin(async ({ db }) => {
        while (!signal.aborted) {
          await db.transaction(async tx => {
            await tx.query({ name: '', text: 'lock table payment_totals in access exclusive mode' });
            const asked = Array.from({ length: 12 }, () =>
              scene
                .api()
                .call('GET', '/v1/payments?status=expired')
                .catch(() => null),
            );
            await Promise.all(asked);
          });
        }
      }),
  },
  {
    alerts: ['FlorinDatabaseDown'],
    what: 'the database server stands still',
    async begin(scene, signal) {
      await signalPostgres(scene, 'SIGSTOP');
      await aborted(signal);
    },
    end: scene => signalPostgres(scene, 'SIGCONT'),
  },
  {
    alerts: ['FlorinRestoreUndeclared'],
    what: 'an older copy of the database is put in its place',
    async begin(scene) {
      await scene.stop();
      await rm(cluster(scene), { recursive: true });
      await rename(copyOf(scene), cluster(scene));
      await scene.start('api,watch,deliver');
    },
  },
  {
    alerts: ['FlorinReviewsOpen'],
    what: 'the operator declares the restore',
    begin: async scene => void (await scene.command('restored')),
  },
  {
    alerts: ['FlorinUnclaimedFunds'],
    what: 'a payer pays a payment that the copy does not contain',
    async begin(scene) {
      const payer = createDevPayer((await findLocalRpcUrl(scene.dataDir))!);
      await payer.pay({ to: lostAddress, token: null, amount: 10n ** 18n });
    },
  },
  {
    alerts: ['FlorinChainHalted'],
    labels: { FlorinChainHalted: { network: 'local' } },
    what: 'the local chain loses its journal',
    async begin(scene, signal) {
      await mineUpTo(scene, moreThanKept, signal);
      await scene.stop();
      await rm(join(scene.dataDir, 'devchain.journal'));
      await scene.start('api,watch,deliver');
      // The new chain has other blocks, which shows when it is as high as the old one.
      await mineUpTo(scene, 2 * moreThanKept, signal);
    },
  },
  { alerts: ['FlorinDown'], what: 'Florin is stopped', begin: scene => scene.stop() },
];
