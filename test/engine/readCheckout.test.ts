import { beforeAll, expect, test } from 'vitest';
import { type CheckoutReader, createCheckoutReader } from '../../src/engine/payments/readCheckout.ts';
import { writePayments } from '../api/listingScene.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const newPage = async () => {
  const account = await quiet.scene.account();
  const wanted = { createdMs: Date.now(), currency: 'ETH', network: 'base', status: 'pending' } as const;
  const [payment] = await writePayments(quiet.scene, account, [wanted]);
  return { environment: 'sandbox', id: payment!.id } as const;
};

const all = async (reader: CheckoutReader, wanted: Parameters<CheckoutReader['readAll']>[0]) =>
  (await reader.readAll(wanted)).map(answer => {
    if (answer instanceof Error) throw answer;
    return answer;
  });

test('a page that somebody has open is not made again, though nothing is kept', async () => {
  const reader = createCheckoutReader(quiet.context, 0);
  const page = await newPage();
  const known = await reader.read(page);
  expect((await all(reader, [page]))[0]).not.toBe(known);
  const [same] = await all(reader, [{ ...page, known }]);
  expect(same).toBe(known);
});

test('what somebody has open is as it is now, and only where it is', async () => {
  const reader = createCheckoutReader(quiet.context, 0);
  const page = await newPage();
  const known = await reader.read(page);
  await quiet.tamper(page.id, `description = 'another'`);
  const [changed] = await all(reader, [{ ...page, known }]);
  expect([known.view.description, changed!.view.description]).toEqual([null, 'another']);
  expect(changed!.view.version).not.toBe(known.view.version);
  const [elsewhere] = await reader.readAll([{ ...page, environment: 'production', known }]);
  expect(elsewhere).toMatchObject({ code: 'not_found' });
});

test('a page is another once its time is up, though nothing was written', async () => {
  let nowMs = quiet.context.clock.nowMs();
  const reader = createCheckoutReader({ ...quiet.context, clock: { ...quiet.context.clock, nowMs: () => nowMs } });
  const page = await newPage();
  const before = await reader.read(page);
  expect(await reader.read(page)).toBe(before);
  nowMs = before.view.expiresAtMs;
  const after = await reader.read(page);
  expect(after.view.version).not.toBe(before.view.version);
});

test('a page is another once its merchant has a new name', async () => {
  const reader = createCheckoutReader(quiet.context);
  const page = await newPage();
  const before = await reader.read(page);
  await quiet.context.db.script(
    `update accounts set name = 'Renamed' where id = (select account_id from payments where id = '${page.id}')`,
  );
  const after = await reader.read(page);
  expect([before.view.merchantName, after.view.merchantName]).toEqual(['Test', 'Renamed']);
});
