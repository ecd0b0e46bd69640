import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openAdmin, openStorage, probeConnection } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import { silentLog } from '../../src/core/log.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import { addPerson } from '../../src/engine/access/people.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { type PostgresConnection, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { openRealLog } from '../mail/realLog.ts';
import { startSmtpReceiver } from '../mail/smtpReceiver.ts';
import { createRandom } from './fuzz/random.ts';
import { faultyMoods, mailFaults, makeNotices, settleMails } from './mailFaults/mailFaultRun.ts';

const help = `Sends security notices through a mail server on loopback that drops connections, falls silent until the
sender gives up, answers seconds late, answers 4xx and 5xx, and closes in the middle of a mail. In the end every notice must have arrived at least once, or be parked because the server refused
it for good, and the log file must contain no e-mail address.

  --notices N  default 10000
  --faults X   share of mails that something goes wrong with, default 0.4
  --seed N     default 1
  --help`;

const { values } = parseArgs({
  options: {
    notices: { type: 'string', default: '10000' },
    faults: { type: 'string', default: '0.4' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [notices, faults, seed] = [values.notices, values.faults, values.seed].map(Number) as [number, number, number];

const accounts = 10;
/** Within the 20 s after which the sender gives up. */
const lateMs = 5_000;
/** Half an hour. */
const settling = { rounds: 1_800, intervalMs: 1_000 };

const urlOf = ({ user, password, database, host, port }: PostgresConnection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

const run = async (room: string): Promise<string[]> => {
  await using started = new AsyncDisposableStack();
  await mkdir(join(room, 'database'));
  const database = await startPostgres({ dataDir: join(room, 'database'), log: silentLog, probe: probeConnection });
  started.defer(() => database.stop());
  const receiver = await startSmtpReceiver();
  started.defer(receiver.close);
  const random = createRandom(`mails ${seed}`);
  receiver.mood = faultyMoods(faults, () => random.next());
  receiver.lateMs = lateMs;
  const log = openRealLog(join(room, 'florin.log'));
  const env = {
    DATABASE_URL: urlOf(database.service),
    FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner),
    FLORIN_PORT: '0',
    FLORIN_SANDBOX_PORT: '0',
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'florin@shop.example',
  };
  const config = await loadConfig({ env, cwd: room });
  const florin = await startFlorin(config, log.log);
  started.defer(florin.stop);
  const storage = await openStorage(config, silentLog);
  started.defer(() => storage.stop());
  const admin = await openAdmin(config, storage);
  const [ids, addresses]: [string[], string[]] = [[], []];
  for (let at = 0; at < accounts; at += 1) {
    const { id } = await createAccount(admin, { name: `Shop ${at}`, plan: 'starter', rateLimit: null, burst: null });
    const owner = { accountId: id, email: `owner${at}@mail-faults.example`, name: 'Owner', role: 'owner' } as const;
    await admin.db.transaction(async tx => {
      await addPerson(admin, tx, { ...owner, passwordHash: null });
      await sealRegister(admin, tx, owner.accountId);
    });
    ids.push(id);
    addresses.push(owner.email);
  }
  await makeNotices(admin, ids, notices);
  console.log(`${notices} notices are queued`);
  let told = Number.POSITIVE_INFINITY;
  await settleMails(admin, {
    ...settling,
    tell: left => {
      if (left > told * 0.8) return;
      told = left;
      console.log(`${left} notices are left`);
    },
  });
  const problems = await mailFaults(admin, receiver, { total: notices, log: await log.text(), addresses });
  console.log(`${receiver.kept.length} mails were kept, ${receiver.refused.length} refused for good`);
  return problems;
};

if (values.help) console.log(help);
else {
  const room = await mkdtemp(join(tmpdir(), 'florin-mail-'));
  try {
    const problems = await run(room);
    for (const problem of problems) console.error(problem);
    console.log(problems.length === 0 ? `nothing was lost (seed ${seed})` : `FAILED (seed ${seed})`);
    process.exitCode = problems.length === 0 ? 0 : 1;
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}
