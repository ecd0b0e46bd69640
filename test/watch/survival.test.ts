import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { slugs } from '../../src/core/registry/backings.ts';
import { expectError } from '../api/paymentCalls.ts';
import { makeRoom, run, type Server, startServer } from '../cli/cliProcess.ts';
import { cutDatabase } from '../support/cutDatabase.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { send } from '../support/send.ts';
import { until } from '../support/until.ts';
import { startFarChain } from './farChain.ts';
import { type Payment, startWatchScene, type WatchScene } from './watchScene.ts';

vi.setConfig({ testTimeout: 180_000 });

let scene: WatchScene;
let usdc: string;
beforeAll(async () => {
  scene = await startWatchScene();
  usdc = await scene.token('base', 'USDC');
});

const whole = 25_000_000n;
const wei = 10n ** 16n;
const paidKinds = ['created', 'detected', 'confirming', 'completed'];

describe('database down', () => {
  test('what is paid meanwhile is found afterwards, once', async () => {
    const tokens = [await scene.calls.made(), await scene.calls.made()];
    const coin = await scene.calls.made({ currency: 'ETH', amount: '0.01' });
    await scene.chain.payToken(usdc, tokens[0].address, whole - 1n);
    const database = await cutDatabase(scene.florin.config.database!.url);
    try {
      await scene.chain.payToken(usdc, tokens[0].address, 1n);
      await scene.chain.payToken(usdc, tokens[1].address, whole);
      await scene.chain.payCoin(coin.address, wei);
      expectError(await scene.calls.read(coin.id), 503, 'service_unavailable');
    } finally {
      await database.restore();
    }
    for (const { id, amount } of [...tokens, coin]) {
      const payment = await scene.reach(id, 'completed');
      expect(payment).toMatchObject({ exception: null, amountReceived: amount, amountConfirmed: amount });
    }
    expect(await scene.kinds(tokens[1].id)).toEqual(paidKinds);
    expect(await scene.kinds(coin.id)).toEqual(paidKinds);
    expect(await scene.transfers(tokens[0].id)).toHaveLength(2);
  });
});

describe('address or treasury tampered in the database', () => {
  /** Connects as the database owner, without its guard. */
  const tamper = (id: string, assignment: string): Promise<void> =>
    scene.florin.admin.db.script(`begin; alter table payments disable trigger payments_frozen;
      update payments set ${assignment} where id = '${id}';
      alter table payments enable trigger payments_frozen; commit`);
  const stateOf = (id: string) =>
    scene.florin.admin.db.query(
      { name: 'watch-state', text: 'select status, amount_received::text, sequence from payments where id = $1' },
      [id],
    );

  const changes = [
    ['the amount', 'amount = 1', 'amount = 25000000'],
    ['the treasury', `treasury = upper(treasury)`, undefined],
    [
      'the derivation index',
      'derivation_index = derivation_index + 1000000',
      'derivation_index = derivation_index - 1000000',
    ],
  ] as const;
  test.each(changes)('%s: funds are recorded, the payment stays, the others go on', async (_, change, repair) => {
    const [tampered, other] = [await scene.calls.made(), await scene.calls.made()];
    await tamper(tampered.id, change);
    const payer = await scene.chain.deploy('ContractPayer');
    await scene.chain.mint(usdc, payer.address, 2n * whole);
    await payer.call('payTokens', [usdc, [tampered.address, other.address], [whole, whole]]);
    expect(await scene.reach(other.id, 'completed')).toMatchObject({ amountReceived: '25.00' });
    await scene.processed();
    expect(await scene.transfers(tampered.id)).toMatchObject([{ amount: '25000000', stray: false, canonical: true }]);
    expect(await stateOf(tampered.id)).toEqual([{ status: 'pending', amount_received: '0', sequence: 1 }]);
    expect(await scene.kinds(tampered.id)).toEqual(['created']);
    expect(scene.errors).toContainEqual({
      fields: expect.objectContaining({ paymentId: tampered.id }),
      message: 'a payment that received funds could not be advanced',
    });
    expectError(await scene.calls.read(tampered.id), 500, 'internal_error');
    if (repair === undefined) return;
    // Repaired by hand, it gets its funds.
    await tamper(tampered.id, `${repair}, wake_at = clock_timestamp()`);
    expect(await scene.reach(tampered.id, 'completed')).toMatchObject({ amountReceived: '25.00', exception: null });
  });
});

describe('crash anywhere, two workers', () => {
  test('when the process that reads a chain is killed, another takes over; nothing is lost or doubled', {
    tags: ['thorough'],
  }, async () => {
    const far = await startFarChain('arbitrum');
    await far.placeToken('USDC', 6);
    const database = await cloneDatabase();
    const db = openTestDatabase(database.url);
    const env = { DATABASE_URL: database.url, FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
    // The others have no node: a dev chain per process would be two chains with one name.
    const sandbox = Object.fromEntries(
      slugs.map(slug => [slug, { rpcUrls: [slug === 'arbitrum' ? far.url : 'http://127.0.0.1:9/'] }]),
    );
    const rooms = [await makeRoom(), await makeRoom()] as const;
    for (const room of rooms) {
      await writeFile(join(room, 'florin.config.json'), JSON.stringify({ networks: { sandbox } }));
    }
    const servers: Server[] = [];
    try {
      const first = await startServer(rooms[0], { env });
      servers.push(first);
      const json = async (...args: string[]) => JSON.parse((await run([...args, '--json'], rooms[0], env)).stdout);
      const { id } = await json('accounts', 'create', '--name', 'T', '--plan', 'enterprise', '--rate-limit', '1000000');
      const scopes = 'payments:read,payments:write';
      const { key } = await json('keys', 'create', '--account', id, '--environment', 'sandbox', '--scopes', scopes);
      const body = { network: 'arbitrum', currency: 'USDC', amount: '25' };
      const create = () => send(first.urls.sandbox, 'POST', '/v1/payments', { ca: first.ca, key, body });
      await until(create, ({ status }) => status === 200);
      const payments: Payment[] = [];
      for (let made = 0; made < 8; made++) payments.push((await create()).json);
      const second = await startServer(rooms[1], { env });
      servers.push(second);

      const holder = async (): Promise<{ fence: string; holder: string | null }> =>
        (
          await db.query<{ fence: string; holder: string | null }>(
            { name: 'watch-holder', text: 'select fence::text, lease_holder as holder from chains where caip2 = $1' },
            [far.caip2],
          )
        )[0]!;
      const before = await holder();
      const pay = ({ address }: Payment) => far.chain.payToken(far.token('USDC'), address, whole);
      for (const payment of payments.slice(0, 4)) await pay(payment);
      first.kill('SIGKILL');
      for (const payment of payments.slice(4)) await pay(payment);
      await first.ended;

      for (const payment of payments) {
        const paid = await until(
          () => send(second.urls.sandbox, 'GET', `/v1/payments/${payment.id}`, { ca: second.ca, key }),
          answer => answer.json.status === 'completed',
        );
        expect(paid.json).toMatchObject({ exception: null, amountReceived: '25.00' });
        expect(paid.json.transactions).toHaveLength(1);
        const text = `select type from events where payment_id = $1 order by sequence`;
        const rows = await db.query<{ type: string }>({ name: 'watch-types', text }, [payment.id]);
        expect(rows.map(({ type }) => type)).toEqual(paidKinds.map(kind => `payment.${kind}`));
      }
      const after = await holder();
      expect(after.holder).not.toBe(before.holder);
      expect(BigInt(after.fence)).toBeGreaterThan(BigInt(before.fence));
    } finally {
      for (const server of servers) server.kill('SIGTERM');
      await Promise.all(servers.map(server => server.ended));
      await db.close();
      await database.drop();
      await far.close();
      for (const room of rooms) await rm(room, { recursive: true, force: true });
    }
  });
});
