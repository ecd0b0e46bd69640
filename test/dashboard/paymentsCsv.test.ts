import { Agent, get } from 'node:https';
import { expect, test } from 'vitest';
import { csvLine } from '../../src/core/csv.ts';
import { writePayments } from '../api/listingScene.ts';
import type { DashboardClient } from '../support/dashboard.ts';
import { expectRefused, startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { dashboard, owner, calls } = scene;

const header =
  'id,status,exception,network,currency,amount,amountReceived,amountConfirmed,address,externalId,description,' +
  'createdAt,expiresAt,completedAt,canceledAt\r\n';

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-2', "'-2"],
  ['@me', "'@me"],
  ['\tx', "'\tx"],
  ['\rx', `"'\rx"`],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['', ''],
])('the cell %j is written as %j', (text, cell) => {
  expect(csvLine([text, null])).toBe(`${cell},\r\n`);
});

test('the file has every payment under the filter, byte by byte, and names environment and day', async () => {
  const first = await calls.made({ description: '=cmd|calc', externalId: 'a "b", c', amount: '0.1' });
  const second = await scene.paid({ amount: '12.34' });
  const { status, headers, text } = await owner.call('GET /payments.csv');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
  expect(headers['content-disposition']).toMatch(
    /^attachment; filename="florin-payments-sandbox-\d{4}-\d\d-\d\d\.csv"$/,
  );
  expect(headers['cache-control']).toContain('no-store');
  const lineOf = (p: Record<string, unknown>, rest: string) =>
    `${p.id},${p.status},,base,USDC,${p.amount},${p.amountReceived},${p.amountConfirmed},${p.address},${rest},${p.createdAt},${p.expiresAt},${p.completedAt ?? ''},\r\n`;
  expect(text).toBe(header + lineOf(second, ',') + lineOf(first, `"a ""b"", c",'=cmd|calc`));
  const completed = await owner.call('GET /payments.csv', { query: { status: 'completed' } });
  expect(completed.text).toBe(header + lineOf(second, ','));
  expect((await owner.call('GET /payments.csv', { environment: 'production' })).text).toBe(header);
  const told = await scene.sql(
    `select action, environment, actor_id, detail::text as detail from audit_log where action = 'payments.exported' order by sequence`,
  );
  expect(told).toEqual([
    { action: 'payments.exported', environment: 'sandbox', actor_id: owner.personId, detail: '{}' },
    { action: 'payments.exported', environment: 'sandbox', actor_id: owner.personId, detail: '{"status":"completed"}' },
    { action: 'payments.exported', environment: 'production', actor_id: owner.personId, detail: '{}' },
  ]);
});

test('a file of several pages has each payment once, newest first, with and without filters', async () => {
  const account = await dashboard.scene.account();
  const analyst = await dashboard.newPerson('finance', account.id);
  const startMs = Date.parse('2026-01-01T00:00:00Z');
  const wanted = Array.from({ length: 1_203 }, (_, at) => ({
    createdMs: startMs + at * 60_000,
    currency: at % 3 === 0 ? 'USDC' : 'DAI',
    network: 'base',
    status: 'pending' as const,
  }));
  const written = (await writePayments(dashboard.scene, account, wanted)).toReversed();
  const ids = (text: string) =>
    text
      .split('\r\n')
      .slice(1, -1)
      .map(line => line.split(',')[0]);
  const all = await analyst.call('GET /payments.csv');
  expect(ids(all.text)).toEqual(written.map(({ id }) => id));
  const some = await analyst.call('GET /payments.csv', { query: { currency: 'usdc', to: '2026-01-01T10:00:00Z' } });
  const expected = written.filter(
    ({ currency, createdMs }) => currency === 'USDC' && createdMs <= startMs + 600 * 60_000,
  );
  expect(ids(some.text)).toEqual(expected.map(({ id }) => id));
  expect(expected.length).toBe(201);
});

test('a line is held against its seal alone: no address is derived for it, and one that was changed is not told', async () => {
  const made = await calls.made({ amount: '3' });
  const changed = await calls.made({ amount: '4' });
  const { db, vault } = dashboard.scene.admin;
  const [row] = await db.query<{ index: string; contract: string; decimals: number; units: string }>(
    {
      name: 'test-sealed',
      text: `select derivation_index as index, contract, decimals, amount as units from payments where id = $1`,
    },
    [made.id],
  );
  // A valid seal over a treasury from which no address can be derived.
  const mac = vault.paymentMac({
    ...{ id: made.id, accountId: dashboard.accountId, environment: 'sandbox', caip2: 'eip155:31337' },
    ...{ contract: row!.contract, amount: BigInt(row!.units), decimals: row!.decimals, currency: 'USDC' },
    ...{ network: 'base', walletKind: 'xpub', treasury: 'no key', index: BigInt(row!.index), address: made.address },
  });
  await db.script(`set session_replication_role = replica;
    update payments set wallet_kind = 'xpub', treasury = 'no key', mac = '\\x${mac.toString('hex')}' where id = '${made.id}';
    update payments set address = '0x000000000000000000000000000000000000dEaD' where id = '${changed.id}';
    set session_replication_role = origin`);
  const lines = (await owner.call('GET /payments.csv')).text.split('\r\n');
  expect(lines.find(line => line.startsWith(made.id))).toContain(`,${made.address},`);
  expect(lines.find(line => line.startsWith(changed.id))).toBe(`${changed.id},tampered${','.repeat(13)}`);
});

test('bad filters and people who may not export get no file, and none is on record', async () => {
  const before = await scene.sql(`select count(*)::int as n from audit_log`);
  await expectRefused(owner.call('GET /payments.csv', { query: { status: 'x' } }), 400, 'invalid_request', 'status');
  await expectRefused(owner.call('GET /payments.csv', { query: { from: 'x' } }), 400, 'invalid_request', 'from');
  await expectRefused((await dashboard.as('viewer')).call('GET /payments.csv'), 403, 'permission_denied');
  expect(await scene.sql(`select count(*)::int as n from audit_log`)).toEqual(before);
});

/** The header line is sent before any payment is read; the next line waits for the table lock. */
const whilePaymentsAreLocked = async (act: () => Promise<void>): Promise<void> => {
  await dashboard.scene.admin.db.transaction(async tx => {
    await tx.query({ name: '', text: 'lock table payments in access exclusive mode' }, []);
    await act();
  });
};

/** Resolves with the first data; `ending` tells how the download ended. */
const download = (client: DashboardClient) =>
  new Promise<{ status: number; retryAfter: string | undefined; ending: Promise<string>; text: () => string }>(
    (resolve, reject) => {
      const agent = new Agent({ ca: dashboard.ca });
      const options = { agent, headers: { cookie: client.cookie } };
      get(`${dashboard.url}/dashboard/api/payments.csv`, options, response => {
        let text = '';
        const ending = new Promise<string>(settle => {
          response.once('error', error => settle((error as { code?: string }).code ?? 'failed'));
          response.once('end', () => settle('whole'));
        });
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          const { statusCode, headers } = response;
          resolve({ status: statusCode!, retryAfter: headers['retry-after'], ending, text: () => text });
        });
      }).once('error', reject);
    },
  );

const ofPerson = ({ personId }: DashboardClient): string => `person_id = '${personId}'`;

test.each([
  ['was signed out', (who: DashboardClient) => `delete from sessions where ${ofPerson(who)}`],
  [
    'was removed',
    ({ personId }: DashboardClient) =>
      `update memberships set removed_at = clock_timestamp() where person_id = '${personId}'`,
  ],
  [
    'lost the role',
    ({ personId }: DashboardClient) => `update memberships set role = 'viewer' where person_id = '${personId}'`,
  ],
  [
    'has a session that is over',
    (who: DashboardClient) =>
      `update sessions set expires_at = clock_timestamp() - interval '1 second' where ${ofPerson(who)}`,
  ],
])('a file that is under way is cut off when its person %s', async (_, takeAway) => {
  const person = await dashboard.newPerson('finance');
  const other = await dashboard.newPerson('finance');
  await calls.made({ amount: '5' });
  const files: Awaited<ReturnType<typeof download>>[] = [];
  await whilePaymentsAreLocked(async () => {
    files.push(await download(person), await download(other));
    await dashboard.scene.admin.db.script(takeAway(person));
  });
  expect(await files[0]!.ending).toBe('ECONNRESET');
  expect(files[0]!.text()).toBe(header);
  expect(await files[1]!.ending).toBe('whole');
  expect(files[1]!.text().length).toBeGreaterThan(header.length);
});

test('a session that nobody used meanwhile does not cut off its file', async () => {
  const person = await dashboard.newPerson('finance');
  await calls.made({ amount: '5' });
  let file: Awaited<ReturnType<typeof download>> | null = null;
  await whilePaymentsAreLocked(async () => {
    file = await download(person);
    await dashboard.scene.admin.db.script(
      `update sessions set last_seen_at = last_seen_at - interval '1 hour' where ${ofPerson(person)}`,
    );
  });
  expect(await file!.ending).toBe('whole');
});

test('whoever has two files under way gets no third, and everybody else gets theirs', async () => {
  const person = await dashboard.newPerson('finance');
  const other = await dashboard.newPerson('finance');
  const files: Awaited<ReturnType<typeof download>>[] = [];
  await whilePaymentsAreLocked(async () => {
    files.push(await download(person), await download(person), await download(other), await download(other));
    expect(files.map(file => file.status)).toEqual([200, 200, 200, 200]);
    const third = await download(person);
    expect(third.status).toBe(429);
    expect(third.retryAfter).toBe('10');
    await third.ending;
    expect(JSON.parse(third.text()).error.code).toBe('rate_limit_exceeded');
  });
  expect(await Promise.all(files.map(file => file.ending))).toEqual(['whole', 'whole', 'whole', 'whole']);
  const exported = await scene.sql(
    `select from audit_log where action = 'payments.exported' and actor_id = '${person.personId}'`,
  );
  expect(exported).toHaveLength(2);
  expect((await person.call('GET /payments.csv')).status).toBe(200);
});
