// @module-tag thorough
import { beforeAll, expect, test, vi } from 'vitest';
import { readAgain } from '../../src/storage/chain/addressChecks.ts';
import { explainSurplus } from '../../src/workers/explainSurplus.ts';
import { createRescanner } from '../../src/workers/rescanner.ts';
import type { Written } from '../api/listingScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

vi.setConfig({ testTimeout: 120_000 });

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

/** More blocks with transfers than one search reads. */
const many = 205;

const prepare = async () => {
  const watched = await startWatchedChain(quiet);
  const { context, driver, lease, host, signal, caip2, chain } = watched;
  const sources = { context, driver, lease };
  const payment = (await watched.payments(1_000, 'USDC')).at(-1)!;
  await chain.mine(3);
  await watched.read();
  return {
    ...watched,
    payment,
    /** Sends 1 to the payment in each of `count` blocks. */
    async dust(count: number): Promise<void> {
      for (let sent = 0; sent < count; sent++) await chain.block(chain.mint(payment.address, 1n));
      await watched.read();
    },
    async search(): Promise<void> {
      const payments = await readAgain(context.db, context.vault, caip2, [payment.id]);
      const head = await chain.head();
      expect(await explainSurplus(sources, host, chain.token, payments, head, signal)).toBe(true);
    },
    rescan: () => createRescanner(context, driver, lease)(host, signal),
    rescans: () =>
      quiet.read<{ from: number; to: number; address: string; finished: boolean }>(
        `select from_number::int as from, to_number::int as to, address, finished_at is not null as finished from rescans
          where caip2 = '${caip2}' order by id`,
      ),
    received: async ({ id }: Written) =>
      (
        await quiet.read<{ received: string }>(
          `select amount_received::text as received from payments where id = '${id}'`,
        )
      )[0]!.received,
  };
};

test('dust on record does not hide a transfer that was missed', async () => {
  const watched = await prepare();
  await watched.dust(many);
  watched.overlooked.add(watched.payment.address);
  await watched.chain.block(watched.chain.mint(watched.payment.address, 700n));
  await watched.read();
  watched.overlooked.clear();
  expect(await watched.received(watched.payment)).toBe(`${many}`);
  await watched.search();
  expect(await watched.received(watched.payment)).toBe(`${many + 700}`);
});

test('what a search does not reach is read by a rescan of the address, which is asked for once', async () => {
  const watched = await prepare();
  const first = await watched.chain.head();
  watched.overlooked.add(watched.payment.address);
  await watched.dust(many);
  watched.overlooked.clear();
  await watched.search();
  expect(await watched.received(watched.payment)).toBe('200');
  const [asked, ...others] = await watched.rescans();
  expect(others).toEqual([]);
  expect(asked).toMatchObject({ address: watched.payment.address, to: first + many, finished: false });
  expect(asked!.from).toBeLessThanOrEqual(first);
  await watched.search();
  expect(await watched.received(watched.payment), 'what is not on record is searched first').toBe(`${many}`);
  expect(await watched.rescans(), 'while it is open').toHaveLength(1);
  while (!(await watched.rescans())[0]!.finished) await watched.rescan();
  await watched.search();
  expect(await watched.rescans(), 'after it was read').toHaveLength(1);
});
