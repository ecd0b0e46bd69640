import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { createIds } from '../src/cli/compose.ts';
import { silentLog } from '../src/core/log.ts';
import { openSession } from '../src/engine/access/sessions.ts';
import { keepingSeals } from '../src/engine/seals/sealKeeper.ts';
import { publicPort } from '../src/http/dashboard/cookies.ts';
import { putMembership } from '../src/storage/access/memberships.ts';
import { insertPerson } from '../src/storage/access/people.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { loadMasterKey } from '../src/vault/masterKey.ts';
import { createVault } from '../src/vault/vault.ts';
import { median, quantile, round } from './figures.ts';
import { tenantOf } from './list.ts';
import type { Scene } from './scene.ts';

/** For the answer with the data of a page. */
const pageTargetMs = 1_000;
const repeats = 50;
const mostExported = 1_000_000;
/** How much the process may grow between the first and the last quarter of an export. */
const growthTarget = 1.25;

type Visitor = { readonly origin: string; readonly cookie: string };

/** Inserts a person with a session. The sign-in itself is not measured. */
const signIn = async (db: Database, accountId: string): Promise<Visitor> => {
  const ids = createIds();
  const { id } = ids.next('person', Date.now());
  const person = {
    accountId,
    id,
    email: `${id}@example.com`,
    name: 'Bench',
    passwordHash: null,
  } as const;
  const context = { ids, clock: { nowMs: Date.now } } as Parameters<typeof openSession>[0];
  const text = `select value from deployment where name = 'dashboard_url'`;
  const [row] = await db.query<{ value: string }>({ name: 'bench-dashboard-url', text });
  const origin = row!.value;
  const port = publicPort(origin);
  const { token } = await db.transaction(async tx => {
    await insertPerson(tx, { ...person, firstAccountId: accountId, createdAt: new Date() });
    await putMembership(tx, accountId, id, 'owner');
    return openSession(context, tx, person, { address: '127.0.0.1', device: 'Bench', port });
  });
  return { origin, cookie: `__Host-florin-${port}=${token}` };
};

/** Reads an answer to its end, or until `isEnough` returns true. */
const ask = (
  scene: Scene,
  visitor: Visitor,
  path: string,
  isEnough: ((part: string) => boolean) | null = null,
): Promise<{ ms: number; text: string }> =>
  new Promise((resolve, reject) => {
    const startedMs = performance.now();
    request(
      `${visitor.origin}/dashboard/api${path}`,
      { ca: scene.ca, headers: { cookie: visitor.cookie } },
      incoming => {
        const parts: string[] = [];
        incoming.setEncoding('utf8').on('data', (part: string) => {
          if (isEnough === null) return void parts.push(part);
          if (!isEnough(part)) return;
          resolve({ ms: performance.now() - startedMs, text: '' });
          incoming.destroy();
        });
        incoming.once('error', reject);
        incoming.once('end', () => {
          if (incoming.statusCode !== 200) reject(new Error(`${path}: ${incoming.statusCode} ${parts.join('')}`));
          else resolve({ ms: performance.now() - startedMs, text: parts.join('') });
        });
      },
    )
      .once('error', reject)
      .end();
  });

const timePage = async (scene: Scene, visitor: Visitor, label: string, path: string): Promise<boolean> => {
  const times: number[] = [];
  for (let i = 0; i < repeats; i++) times.push((await ask(scene, visitor, path)).ms);
  const worst = quantile(times, 0.99);
  const first = round(times[0]!);
  console.log(
    `  ${label}: first ${first}, p50 ${round(median(times))}, p99 ${round(worst)} ms (target ${pageTargetMs})`,
  );
  return worst <= pageTargetMs;
};

const filters: Readonly<Record<string, [path: string, where: string]>> = {
  'first page': ['', 'true'],
  status: ['&status=expired', `status = 'expired'`],
  currency: ['&currency=USDT', `currency = 'USDT'`],
  network: ['&network=polygon', `network = 'polygon'`],
  'status, currency and network': [
    '&status=completed&currency=USDC&network=base',
    `status = 'completed' and currency = 'USDC' and network = 'base'`,
  ],
  exception: ['&exception=underpaid', `exception = 'underpaid'`],
  'a page far down': ['&offset=90000', 'true'],
};

const comparePages = async (scene: Scene, visitor: Visitor, db: Database, accountId: string): Promise<boolean> => {
  let isMet = true;
  for (const [label, [query, where]] of Object.entries(filters)) {
    const path = `/payments?environment=sandbox&limit=20${query}`;
    const isFast = await timePage(scene, visitor, label, path);
    const total = JSON.parse((await ask(scene, visitor, path)).text).pagination.total as number;
    const text = `select count(*)::float8 as n from payments where account_id = '${accountId}' and environment = 'sandbox' and ${where}`;
    const [counted] = await db.query<{ n: number }>({ name: `bench-count-${label}`, text });
    if (total !== counted!.n) console.log(`  ${label}: the total is ${total}, but there are ${counted!.n}`);
    isMet = isMet && isFast && total === counted!.n;
  }
  return isMet;
};

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** An export of any length must not grow the process. */
const measureExport = async (scene: Scene, visitor: Visitor, payments: number): Promise<boolean> => {
  const rows = Math.min(payments, mostExported);
  const marks: number[] = [];
  let lines = 0;
  let bytes = 0;
  const { ms } = await ask(scene, visitor, '/payments.csv?environment=sandbox', part => {
    bytes += part.length;
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) lines += 1;
    if (marks.length < 4 && lines > ((marks.length + 1) * rows) / 4) marks.push(residentMiB(scene.pid));
    return lines > rows && rows < payments;
  });
  const growth = marks.at(-1)! / marks[0]!;
  const rate = Math.round((lines / ms) * 1_000);
  console.log(
    `  export of ${lines - 1} rows, ${round(bytes / 2 ** 20)} MiB in ${round(ms / 1_000)} s, ${rate} rows/s; resident at each quarter: ${marks.map(mark => Math.round(mark)).join(', ')} MiB, grown ${round(growth)} (target ${growthTarget})`,
  );
  return lines > rows && growth <= growthTarget;
};

/** Pages, figures and exports of an account with very many payments. */
export const benchDashboard = async (scene: Scene, options: { payments: number }): Promise<boolean> => {
  const tenant = await tenantOf(scene, options.payments);
  const db = openDatabase(
    { ...scene.superuser, database: 'florin' },
    { log: silentLog, maxConnections: 1, queryTimeoutMs: 600_000 },
  );
  db.keepSeals(keepingSeals(createVault(await loadMasterKey({ dataDir: scene.dataDir })), silentLog));
  try {
    const visitor = await signIn(db, tenant.id);
    const arePagesGood = await comparePages(scene, visitor, db, tenant.id);
    const isHomeFast = await timePage(scene, visitor, 'home, 90 days', '/home?environment=sandbox&days=90');
    const isSettlementFast = await timePage(scene, visitor, 'settlement', '/settlement?environment=sandbox');
    const isFileFlat = await measureExport(scene, visitor, options.payments);
    return arePagesGood && isHomeFast && isSettlementFast && isFileFlat;
  } finally {
    await db.close();
  }
};
