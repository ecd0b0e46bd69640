import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeConnection } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { slugs, testnets } from '../../src/core/registry/backings.ts';
import { type PostgresConnection, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { releaseBefore } from '../../src/storage/releaseBefore.ts';
import { serveNode } from '../chains/servedNode.ts';
import { runUpgradeDrill } from './upgradeDrill/drill.ts';
import { createFleet } from './upgradeDrill/fleet.ts';
import { createFrontDoor } from './upgradeDrill/frontDoor.ts';
import { startReceiver } from './upgradeDrill/receiver.ts';
import { checkOut } from './upgradeDrill/release.ts';

const help = `Checks out the release before and starts it: two processes each that serve, watch and deliver, over one database. Under load
it replaces them one by one by this release, goes back, upgrades again, and finishes. No request may fail, no payment and no
event may be missing, and an older process must be refused at the end. The client knows both serving processes by /readyz
and repeats only requests that met a closed idle connection. A release that does not drain is taken out of the proxy by hand.

  --before REV  default: that of src/storage/releaseBefore.ts
  --callers N   requests at a time, default 8
  --seconds N   of load after each round of replacements, default 5
  --help`;

const { values } = parseArgs({
  options: {
    before: { type: 'string', default: releaseBefore.revision },
    callers: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

const urlOf = ({ user, password, database, host, port }: PostgresConnection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

const run = async (room: string): Promise<number> => {
  await mkdir(join(room, 'database'));
  await using started = new AsyncDisposableStack();
  const { release: before, remove } = await checkOut(values.before, join(room, 'before'));
  started.defer(remove);
  const database = await startPostgres({ dataDir: join(room, 'database'), log: silentLog, probe: probeConnection });
  started.defer(() => database.stop());
  const node = await serveNode(testnets.base.chainId);
  started.defer(() => node.close());
  const receiver = await startReceiver();
  started.defer(() => receiver.close());
  const frontDoor = createFrontDoor();
  started.defer(() => frontDoor.close());
  // With nodes for every network, no process needs a local chain, and both watchers can read.
  const nowhere = ['http://127.0.0.1:9/'];
  const sandbox = Object.fromEntries(slugs.map(slug => [slug, { rpcUrls: slug === 'base' ? [node.url] : nowhere }]));
  const env = {
    DATABASE_URL: urlOf(database.service),
    FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner),
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
  };
  const fleet = await createFleet(room, env, { networks: { sandbox } }, frontDoor);
  started.defer(() => fleet.kill());
  const checks = await runUpgradeDrill({
    fleet,
    frontDoor,
    before,
    owner: database.owner,
    receiver,
    callers: Number(values.callers),
    seconds: Number(values.seconds),
    tell: text => console.log(text),
  });
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
};

if (values.help) console.log(help);
else {
  const room = await mkdtemp(join(tmpdir(), 'florin-upgrade-drill-'));
  await chmod(room, 0o755);
  try {
    process.exitCode = await run(room);
  } finally {
    await rm(room, { recursive: true, force: true, maxRetries: 5 });
  }
}
