import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { metricTable } from '../../src/metrics/metricTable.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { makeRoom } from '../cli/cliProcess.ts';
import { answering, type Receiver, startReceiver } from '../deliveries/receiver.ts';
import { cutDatabase } from '../support/cutDatabase.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { eventually, until } from '../support/until.ts';
import { parseExposition } from './parseExposition.ts';
import { askMetrics, scrape, seriesValue } from './scrape.ts';

const requestCount = 'florin_http_request_duration_seconds_count';
/** Nothing answers there, so each look at the chain is a fault of the node. */
const deadNode = 'http://person:n0de-passw0rd@127.0.0.1:9/n0de-key';

const masterKey = { FLORIN_MASTER_KEY: '5c'.repeat(32) };

/** As the embedded database left it, before the data directory was used with a server of one's own. */
const lateArchive = { directory: '/mnt/backups', folder: 'a', seconds: 60, archivedAt: '2020-01-01T00:00:00.000Z' };

let dataDir: string;
let scene: TestFlorin;
let account: TestAccount;
let receiver: Receiver;
const lines: { fields: object; message: string }[] = [];
const note = (fields: object, message: string): void => void lines.push({ fields, message });
const log: Log = { debug() {}, info: note, warn() {}, error: note };
beforeAll(async () => {
  receiver = await startReceiver();
  dataDir = await makeRoom();
  await writeFile(join(dataDir, 'log-archive.json'), JSON.stringify(lateArchive));
  scene = await startTestFlorin({
    env: { FLORIN_ROLES: 'all', FLORIN_METRICS_PORT: '0', FLORIN_DATA_DIR: dataDir, ...masterKey },
    configFile: { networks: { sandbox: { polygon: { rpcUrls: [deadNode] } } } },
    log,
  });
  account = await scene.account();
});

const value = async (name: string, labels?: Record<string, string>): Promise<number | undefined> =>
  seriesValue(await scrape(scene.florin), name, labels);

test('every metric that this Florin can know is answered, and each is in the guide', async () => {
  const guide = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const documented = [...guide.matchAll(/^\| `((?:florin|process)_\w+)` \|/gm)].map(([, name]) => name!);
  expect(documented.sort()).toEqual(Object.keys(metricTable).sort());
  await scene.client.call('GET', '/healthz');
  const answered = (await scrape(scene.florin)).map(({ name }) => name);
  // This Florin takes no backups, has no Redis and is one process.
  const known = Object.keys(metricTable).filter(
    name => !/^florin_(?:backup|log_archive)_|_latest_|_shared$|_process_up$/.test(name),
  );
  expect(answered.sort()).toEqual(known.sort());
});

test('a log that an embedded database archived here before is not late', async () => {
  expect(JSON.parse(await readFile(join(dataDir, 'log-archive.json'), 'utf8'))).toBeNull();
  expect(await value('florin_log_archive_timestamp_seconds')).toBeUndefined();
});

test('names follow the conventions of Prometheus', async () => {
  for (const { name, type, help } of await scrape(scene.florin)) {
    expect(name).toMatch(/^(?:florin|process)_[a-z_]+$/);
    expect(help, name).toMatch(/^.+\.$/);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_(?:seconds|payments)$/);
  }
});

test('payments, batches and requests are counted', async () => {
  const calls = paymentCalls(scene, account);
  const labels = { environment: 'sandbox', method: 'POST', route: '/v1/payments', status: '2xx' };
  await calls.made();
  await calls.made();
  await calls.create({ amount: 'x' });
  const families = await eventually(async () => {
    const seen = await scrape(scene.florin);
    expect(seriesValue(seen, 'florin_payments', { environment: 'sandbox', status: 'pending' })).toBe(2);
    return seen;
  });
  expect(seriesValue(families, 'florin_payments', { environment: 'production', status: 'pending' })).toBe(0);
  expect(seriesValue(families, requestCount, labels)).toBe(2);
  expect(seriesValue(families, requestCount, { ...labels, status: '4xx' })).toBe(1);
  expect(seriesValue(families, 'florin_create_batch_payments_sum')).toBe(2);
});

test('a thousand paths that do not exist make one series', async () => {
  const paths = Array.from({ length: 1_000 }, (_, place) => `/v1/nothing-${place}/here?of=${place}`);
  for (let from = 0; from < paths.length; from += 50) {
    await Promise.all(paths.slice(from, from + 50).map(path => scene.client.call('GET', path)));
  }
  const families = await scrape(scene.florin);
  const requests = families.find(({ name }) => name === 'florin_http_request_duration_seconds')!;
  const counts = requests.samples.filter(({ name, labels }) => name === requestCount && labels.route === 'unmatched');
  // Some got 429, which is of the same class.
  expect(counts.map(({ labels, value: count }) => [labels, count])).toEqual([
    [{ environment: 'sandbox', method: 'other', route: 'unmatched', status: '4xx' }, 1_000],
  ]);
  const routes = new Set(requests.samples.map(({ labels }) => labels.route));
  expect([...routes].filter(route => route!.includes('nothing'))).toEqual([]);
});

test('deliveries: attempts by what followed, and what is due', async () => {
  const calls = paymentCalls(scene, account);
  const before = (await value('florin_delivery_attempts_total', { result: 'succeeded' }))!;
  await calls.made({ callbackUrl: receiver.url });
  await until(
    () => value('florin_delivery_attempts_total', { result: 'succeeded' }),
    count => count === before + 1,
  );
  receiver.answer = answering(500);
  await calls.made({ callbackUrl: receiver.url });
  await until(
    () => value('florin_delivery_attempts_total', { result: 'retry' }),
    count => count! > 0,
  );
  receiver.answer = answering(410);
  await calls.made({ callbackUrl: receiver.url });
  await until(
    () => value('florin_delivery_attempts_total', { result: 'parked' }),
    count => count === 1,
  );
});

test('a node is named by its place in the configuration, and its chain is down', async () => {
  const labels = { chain: 'eip155:80002', network: 'polygon' };
  await until(
    () => value('florin_rpc_faults_total', { ...labels, node: '1' }),
    count => count! > 0,
  );
  const families = await scrape(scene.florin);
  expect(seriesValue(families, 'florin_chain_status', { ...labels, status: 'down' })).toBe(1);
  expect(seriesValue(families, 'florin_rpc_faults_total', { network: 'local', node: '1' })).toBe(0);
  expect(seriesValue(families, 'florin_chain_status', { network: 'local', status: 'operational' })).toBe(1);
  expect(seriesValue(families, 'florin_chain_lag_seconds', { network: 'local' })).toBeDefined();
});

test('a halted chain', async () => {
  const halt = (set: string) => scene.admin.db.script(`update chains set ${set} where caip2 = 'eip155:31337'`);
  await halt(`halted_at = clock_timestamp(), halt_reason = 'test'`);
  await until(
    () => value('florin_chain_halted', { network: 'local' }),
    halted => halted === 1,
  );
  await halt('halted_at = null, halt_reason = null');
  await until(
    () => value('florin_chain_halted', { network: 'local' }),
    halted => halted === 0,
  );
});

test('a record that does not match its seal is counted each time it is refused', async () => {
  const before = (await value('florin_seals_refused_total'))!;
  const payment = await paymentCalls(scene, account).made();
  await scene.tamper(`begin; alter table payments disable trigger payments_frozen;
    update payments set amount = 1 where id = '${payment.id}';
    alter table payments enable trigger payments_frozen; commit`);
  expect((await paymentCalls(scene, account).read(payment.id)).status).toBe(500);
  expect(await value('florin_seals_refused_total')).toBe(before + 1);
  expect(lines.find(({ message }) => message === 'a payment does not match its seal')!.fields).toMatchObject({
    forged: 'payments',
  });
});

test('a register that does not match is counted each time somebody is refused for it', async () => {
  const other = await scene.account();
  const { id } = await paymentCalls(scene, other).made();
  const before = (await value('florin_seals_refused_total'))!;
  await scene.tamper(
    `update audit_heads set row_seal = decode(repeat('00', 32), 'hex') where account_id = '${other.id}'`,
  );
  await until(
    () => paymentCalls(scene, other).read(id),
    ({ status }) => status === 503,
  );
  expect(await value('florin_seals_refused_total')).toBeGreaterThan(before);
  expect(lines.map(({ fields }) => fields)).toContainEqual({ forged: 'audit_heads', accountId: other.id });
});

test('a chain that nobody reads any more is not shown, and one that another process reads is', async () => {
  const measured = (age: string) => `insert into network_status (environment, network, caip2, status, checked_at)
    values ('production', 'ethereum', 'eip155:1', 'operational', clock_timestamp() - interval '${age}')
    on conflict (environment, network) do update set checked_at = excluded.checked_at`;
  const status = () => value('florin_chain_status', { chain: 'eip155:1', status: 'down' });
  await scene.tamper(measured('50 minutes'));
  await until(status, down => down === 1);
  await scene.tamper(measured('61 minutes'));
  await until(status, down => down === undefined);
});

test('what was given up tells when, by kind', async () => {
  await scene.tamper(`insert into outbox (id, kind, content, failures, parked_at, parked_reason) values
    ('out_m1', 'farewell', '\\x00', 9, '2026-01-02T00:00:00Z', 'x'),
    ('out_m2', 'alert', '\\x00', 9, '2026-01-01T00:00:00Z', 'x')`);
  const at = 'florin_outbox_parked_latest_timestamp_seconds';
  expect(await until(() => value(at, { kind: 'alert' }), Boolean)).toBe(Date.parse('2026-01-02T00:00:00Z') / 1000);
  expect(await value('florin_outbox_parked', { kind: 'alert' })).toBe(2);
  expect(await value(at, { kind: 'mail' })).toBeUndefined();
  await scene.tamper(`delete from outbox where id in ('out_m1', 'out_m2')`);
});

test('nothing secret is in the answer', async () => {
  const { text } = await askMetrics(scene.florin);
  const { username, password } = new URL(scene.config.database!.url);
  const secrets = ['passw0rd', 'n0de', 'person', '127.0.0.1', account.id, account.keys.sandbox, receiver.url];
  for (const secret of [...secrets, ...(password ? [password, `${username}:`] : [])])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/pay_|sk_test|key_|acct_|https?:/);
});

describe('the listener', () => {
  test('is on loopback only', () => {
    expect(scene.config.metrics!.hosts).toEqual(['127.0.0.1', '::1']);
  });

  test('answers GET and HEAD of /metrics', async () => {
    const answer = await askMetrics(scene.florin);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(parseExposition(answer.text).length).toBeGreaterThan(10);
    const head = await askMetrics(scene.florin, '/metrics', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await askMetrics(scene.florin, '/metrics?x=1')).status).toBe(200);
  });

  test.each(['/', '/metrics/', '/v1/payments', '/healthz', '/dashboard', '//metrics'])('refuses %s', async path => {
    const answer = await askMetrics(scene.florin, path);
    expect([answer.status, answer.text]).toEqual([404, 'There is only /metrics here.\n']);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s', async method => {
    const answer = await askMetrics(scene.florin, '/metrics', { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test.each(['evil.example', 'evil.example:9464', '192.0.2.1'])('refuses the name %j on loopback', async host => {
    const answer = await askMetrics(scene.florin, '/metrics', { headers: { Host: host } });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('florin_');
  });

  test.each(['localhost', 'localhost:9464', '127.0.0.1:9464', '[::1]:9464'])('takes the name %s', async host => {
    expect((await askMetrics(scene.florin, '/metrics', { headers: { Host: host } })).status).toBe(200);
  });

  test('is not there unless it is asked for, and the API does not serve metrics', async () => {
    const { florin } = await startSecondFlorin(scene.config.database!.url, masterKey);
    expect(florin.metricsPort).toBeNull();
    expect((await scene.client.call('GET', '/metrics')).status).toBe(404);
  });

  test('a process that reads no chain tells how far another one has read', async () => {
    const { florin } = await startSecondFlorin(scene.config.database!.url, {
      FLORIN_ROLES: 'api',
      FLORIN_METRICS_PORT: '0',
      ...masterKey,
    });
    const families = await scrape(florin);
    expect(seriesValue(families, 'florin_chain_lag_seconds', { network: 'local' })).toBeDefined();
    expect(seriesValue(families, 'florin_chain_status', { network: 'local', status: 'operational' })).toBe(1);
    expect(seriesValue(families, 'florin_rpc_faults_total', { network: 'local' })).toBeUndefined();
  });

  test('is there in a process that serves no API', async () => {
    const { florin } = await startSecondFlorin(scene.config.database!.url, {
      FLORIN_ROLES: 'watch',
      FLORIN_METRICS_PORT: '0',
      ...masterKey,
    });
    expect(seriesValue(await scrape(florin), 'florin_database_up')).toBe(1);
  });
});

test('without its database, a scrape tells of that and has what the process knows', async () => {
  const cut = await cutDatabase(scene.config.database!.url);
  try {
    const families = await eventually(async () => {
      const seen = await scrape(scene.florin);
      expect(seriesValue(seen, 'florin_database_up')).toBe(0);
      expect(seen.map(({ name }) => name)).not.toContain('florin_payments');
      return seen;
    });
    const names = families.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['florin_rpc_faults_total', 'florin_data_directory_free_bytes']));
    expect(seriesValue(families, 'florin_readings_failed_total', { reading: 'up' })).toBeGreaterThan(0);
    expect(names).not.toContain('florin_chain_halted');
  } finally {
    await cut.restore();
  }
  await until(
    () => value('florin_database_up'),
    up => up === 1,
  );
});
