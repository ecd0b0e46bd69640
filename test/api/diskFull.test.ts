import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findSuperuser } from '../../src/local/postgres/startPostgres.ts';
import { type Api, type ApiAnswer, createApi } from '../campaigns/chaos/api.ts';
import { type FlorinProcess, launchFlorin, runFlorin, stopFlorin } from '../campaigns/chaos/florinProcess.ts';
import { killServers, query } from '../local/postgresScene.ts';
import { canMount, fillDisk, mountSmallDisk } from '../support/smallDisk.ts';
import { eventually } from '../support/until.ts';

const diskMb = 224;
const limit = { timeout: 240_000 };
/** Large, so that a full disk is noticed soon. */
const metadata = { filler: 'x'.repeat(12_000) };

const undo: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const makeSmallDisk = async (): Promise<string> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-disk-'));
  undo.push(() => rm(room, { recursive: true, force: true }));
  const dataDir = join(room, 'data');
  undo.push(await mountSmallDisk(dataDir, diskMb));
  return dataDir;
};

const startMerchant = async (dataDir: string): Promise<{ florin: FlorinProcess; api: Api }> => {
  const florin = launchFlorin(dataDir);
  undo.push(() => stopFlorin(florin, dataDir));
  const { sandboxUrl: url, ca } = await florin.ready;
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  const { id } = await runFlorin(dataDir, ['accounts', 'create', '--name', 'Disk', ...wide]);
  const { key } = await runFlorin(dataDir, ['keys', 'create', '--account', id as string]);
  const api = createApi({ url, ca, key: key as string });
  undo.push(() => api.close());
  return { florin, api };
};

const codeOf = ({ body }: ApiAnswer): unknown => (body.error as { code?: unknown } | undefined)?.code;

test.runIf(canMount)(
  'a full disk (needs root to mount one) refuses payments, loses none, and recovers',
  { ...limit, tags: ['thorough'] },
  async () => {
    const dataDir = await makeSmallDisk();
    const { florin, api } = await startMerchant(dataDir);
    const acknowledged = new Map<string, unknown>();
    const refusals: { status: number; code: unknown }[] = [];
    const create = async (): Promise<boolean> => {
      const body = { amount: '25.00', currency: 'USDC', network: 'base', metadata };
      const answer = await api.call('POST', '/v1/payments', { body });
      if (answer.status === 200) acknowledged.set(answer.body.id as string, answer.body.address);
      else refusals.push({ status: answer.status, code: codeOf(answer) });
      return answer.status === 200;
    };
    const recovered = () => eventually(async () => expect(await create()).toBe(true));
    const everyAcknowledgedPaymentIsThere = async () => {
      for (const [id, address] of acknowledged) {
        const { status, body } = await api.call('GET', `/v1/payments/${id}`);
        expect({ status, id: body.id, address: body.address }).toEqual({ status: 200, id, address });
      }
      const { body } = await api.call('GET', '/v1/payments?limit=1');
      const { total } = body.pagination as { total: number };
      // A payment that was refused because the database failed during its commit may have been written.
      expect(total).toBeGreaterThanOrEqual(acknowledged.size);
      expect(total).toBeLessThanOrEqual(acknowledged.size + refusals.length);
      expect(refusals.filter(({ status }) => status !== 503)).toEqual([]);
    };
    for (let count = 0; count < 20; count++) expect(await create()).toBe(true);
    const superuser = (await findSuperuser({ dataDir }))!;
    await query(superuser, 'select 1');

    const filler = join(dataDir, 'filler');
    await fillDisk(filler);
    await eventually(async () => expect(await create()).toBe(false));
    for (let count = 0; count < 10; count++) await create();
    expect(refusals).toContainEqual({ status: 503, code: 'service_unavailable' });
    expect([200, 503]).toContain((await api.call('GET', '/v1/payments')).status);
    await rm(filler);
    await recovered();
    await everyAcknowledgedPaymentIsThere();

    // Again, until the write-ahead log is full too and the database fails.
    await fillDisk(filler);
    const writeAhead = "select pg_logical_emit_message(true, 'x', repeat('x', 900000))";
    await eventually(async () => {
      const written = await query(superuser, writeAhead).catch(() => null);
      expect(written === null && !(await create())).toBe(true);
    });
    expect(refusals.at(-1)).toEqual({ status: 503, code: 'service_unavailable' });
    await killServers(dataDir);
    expect((await api.call('GET', '/healthz')).status).toBe(200);
    await rm(filler);
    await recovered();
    await everyAcknowledgedPaymentIsThere();
    expect(await stopFlorin(florin, dataDir)).toBe(true);
  },
);
