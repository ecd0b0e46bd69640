import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../support/freePort.ts';
import { expectEqual, type Scene } from './check.ts';
import { type Container, runContainer } from './container.ts';
import { type Shop, shopOf } from './shop.ts';

/** No passwd file knows it. Group 0 is what a platform gives to a user that it chose. */
const user = '12345:0';

/** Where the volume for backups is in the container. */
const backups = '/backups';

const refusedWrite = ': >/tmp/x && (mkdir /florin/x 2>/dev/null || echo refused)';

/** State and name of each process, from /proc: Z is one that has ended and that nobody has reaped. */
const zombies = (container: Container): string[] =>
  container
    .exec('sh', '-c', 'cat /proc/[0-9]*/stat 2>/dev/null || true')
    .split('\n')
    .filter(line => /^\d+ \(.*\) Z /.test(line));

const postmasterOf = (dataDir: string): string =>
  readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]!;

const killPostgres = async (container: Container, dataDir: string): Promise<void> => {
  const before = postmasterOf(dataDir);
  container.exec('kill', '-9', before);
  for (let tries = 0; tries < 240; tries += 1) {
    if (container.logs().includes('PostgreSQL was started again')) return;
    await pause(250);
  }
  throw new Error('PostgreSQL was not started again');
};

const backUp = (container: Container): string => {
  const identity = `${backups}/identity`;
  const recipient = container.exec('florin', 'backup', 'identity', '--output', identity);
  const taken = container.exec('florin', 'backup', '--to', backups, '--recipient', recipient, '--json');
  const { file } = JSON.parse(taken) as { file: string };
  return container.exec('florin', 'backup', 'verify', file, '--identity', identity);
};

/** Everything in one container and one volume. */
export const embeddedScene = async ({ folder, image, runOptions, check }: Scene): Promise<void> => {
  const dataDir = join(folder, 'data');
  const backupDir = join(folder, 'backups');
  for (const volume of [dataDir, backupDir]) {
    mkdirSync(volume);
    // Group 0 owns it, as in a volume of the image.
    chmodSync(volume, 0o770);
  }
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const env = { FLORIN_HOST: '127.0.0.1', FLORIN_PORT: `${port}`, FLORIN_SANDBOX_PORT: `${sandboxPort}` };
  let container: Container | null = null;
  let shop: Shop | null = null;
  const paid: string[] = [];
  const stillThere = async (): Promise<string> => {
    for (const id of paid) expectEqual(await shop!.stateOf(id), 'completed', `payment ${id}`);
    paid.push(await shop!.completePayment());
    container!.exec('florin', 'doctor');
    return `${paid.length} payments are completed, doctor finds nothing`;
  };
  try {
    await check('it starts read-only, without capabilities, as user 12345', async () => {
      container = runContainer({
        image,
        user,
        volumes: [`${dataDir}:/data`, `${backupDir}:${backups}`],
        env,
        runOptions,
      });
      await container.waitUntilReady();
      expectEqual(container.exec('sh', '-c', refusedWrite), 'refused', 'a write to the root');
      shop = shopOf(container, dataDir, sandboxPort);
      return container.exec('id');
    });
    if (container === null || shop === null) return;
    const running: Container = container;
    await check('the first payment is completed', stillThere);
    await check('a backup in a volume of its own is whole', () => backUp(running));
    await check('PostgreSQL ends; it is started again, and its children are reaped', async () => {
      await killPostgres(running, dataDir);
      await running.waitUntilReady();
      expectEqual(zombies(running), [], 'processes that nobody reaped');
      return stillThere();
    });
    await check('SIGTERM stops it cleanly, and a start keeps everything', async () => {
      expectEqual(running.stop(), 0, 'exit code');
      if (!running.logs().includes('Florin has stopped')) throw new Error(`it says:\n${running.logs()}`);
      const log = readFileSync(join(dataDir, 'postgres/server.log'), 'utf8');
      if (!log.trimEnd().endsWith('database system is shut down')) throw new Error('PostgreSQL was not shut down');
      running.startAgain();
      await running.waitUntilReady();
      return stillThere();
    });
    await check('SIGKILL loses nothing', async () => {
      running.kill();
      running.startAgain();
      await running.waitUntilReady();
      return stillThere();
    });
    await check('it says what is missing beyond loopback', () => {
      const wide = { ...env, FLORIN_HOST: '0.0.0.0' };
      const other = runContainer({ image, user, volumes: [], env: wide, runOptions });
      try {
        expectEqual(other.ended(), 1, 'exit code');
        if (!other.logs().includes('FLORIN_PUBLIC_URL is required')) throw new Error(`it says:\n${other.logs()}`);
        return 'FLORIN_PUBLIC_URL is required';
      } finally {
        other.remove();
      }
    });
  } finally {
    (container as Container | null)?.remove();
  }
};
