import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { csvLine } from '../../src/core/dashboard/csv.ts';
import { silentLog } from '../../src/core/log.ts';
import { createCsvStreams } from '../../src/http/dashboard/csvStream.ts';
import { writePayments } from '../api/listingScene.ts';
import { until } from '../api/paymentCalls.ts';
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
  // Nothing can be derived from this treasury, whatever it costs.
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

describe('a stream', () => {
  const piece = 'x'.repeat(256 * 1024);
  const serve = async (pieces: () => AsyncIterable<string>) => {
    const stream = createCsvStreams(silentLog);
    const refusals: unknown[] = [];
    const server = createServer((_, response) => {
      try {
        const file = stream(pieces);
        file.open(response);
        file.drop();
      } catch (error) {
        refusals.push(error);
        response.writeHead(503).end();
      }
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}`,
      refusals,
      stop: () =>
        new Promise<void>(resolve => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
  };

  test('waits for a client that does not read, and ends when it goes', async () => {
    let made = 0;
    let isEnded = false;
    const server = await serve(async function* () {
      try {
        for (; made < 4_000; made++) {
          await turn();
          yield piece;
        }
      } finally {
        isEnded = true;
      }
    });
    const request = get(server.url, { agent: false });
    request.on('error', () => {});
    await new Promise<void>(resolve => request.once('response', response => response.pause() && resolve()));
    // Each turn would make a piece, if nothing held it back.
    for (let turns = 0; turns < 3_000; turns++) await turn();
    expect(made).toBeLessThan(200);
    expect(isEnded).toBe(false);
    request.destroy();
    await until(
      async () => isEnded,
      ended => ended,
    );
    expect(made).toBeLessThan(200);
    await server.stop();
  });

  test('that breaks off is cut, so that nobody takes it for the whole', async () => {
    const server = await serve(async function* () {
      yield 'id\r\n';
      throw new Error('the database is gone');
    });
    const request = get(server.url, { agent: false });
    const cut = new Promise<string>(resolve => {
      request.once('response', response => {
        response.resume();
        response.once('error', error => resolve((error as { code?: string }).code ?? ''));
        response.once('end', () => resolve('whole'));
      });
      request.once('error', error => resolve((error as { code?: string }).code ?? ''));
    });
    expect(await cut).toBe('ECONNRESET');
    await server.stop();
  });

  test('is one of four at a time, and its place is free again when it ends', async () => {
    const open: (() => void)[] = [];
    const server = await serve(async function* () {
      yield 'id\r\n';
      await new Promise<void>(resolve => open.push(resolve));
    });
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        get(server.url, { agent: false }, response => {
          response.resume();
          resolve(response.statusCode!);
        }).once('error', reject);
      });
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([200, 200, 200, 200]);
    expect(await ask()).toBe(503);
    expect(server.refusals).toMatchObject([{ code: 'service_unavailable' }]);
    await until(
      async () => open.length,
      count => count === 4,
    );
    open[0]!();
    await until(ask, status => status === 200);
    for (const end of open) end();
    await server.stop();
  });
});
