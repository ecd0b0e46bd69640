import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attributeOf, type CheckoutScene, noticePage, startCheckoutScene, tokenOf } from './checkoutScene.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene({ pollMs: 50 });
});
beforeEach(() => {
  scene.errors.length = 0;
});

/** Addresses are unique, so each test has its own thief's address, with a common prefix. */
const thiefMark = '0xbadc0debadc0debadc0de';
const thief = (): string => thiefMark + randomBytes(10).toString('hex');

/** Writes as the owner of the database, past the trigger. */
const tamper = (id: string, assignment: string): Promise<void> =>
  scene.florin.admin.db.script(`begin; alter table payments disable trigger payments_frozen;
    update payments set ${assignment} where id = '${id}';
    alter table payments enable trigger payments_frozen; commit`);

const alarms = (id: string): number =>
  scene.errors.filter(
    ({ fields, message }) => message === 'a payment does not match its seal' && fields.paymentId === id,
  ).length;

const changes = [
  ['the address', () => `address = '${thief()}'`],
  ['the treasury', () => `treasury = '${thief()}'`],
  ['the amount', () => 'amount = 1'],
  ['the token', () => `contract = '${thief()}'`],
  ['the decimals', () => 'decimals = 3'],
  ['the chain', () => `caip2 = 'eip155:1'`],
  ['the currency', () => `currency = 'DAI'`],
  ['the seal', () => `mac = decode(repeat('00', 32), 'hex')`],
] as const;

const expectBlocked = (page: string, address: string): void => {
  expect(page.toLowerCase()).not.toContain(thiefMark);
  expect(page.toLowerCase()).not.toContain(address.toLowerCase());
  expect(page).not.toMatch(/0x[0-9a-f]{8}|ethereum:/i);
};

describe('a row that was changed past the database’s guard', () => {
  test.each(changes)('%s: the page is blocked, and the log has an alarm', async (_, assignment) => {
    const { id, address } = await scene.calls.made();
    const page = await scene.get(id);
    expect(page.text).toContain(address);
    const token = tokenOf(page.text)!;
    await tamper(id, assignment());
    const answers = [await scene.get(id), await scene.get(`${id}/main`), await scene.get(`${id}/live`)];
    for (const [i, { status, text, headers }] of answers.entries()) {
      expect([status, text]).toEqual([500, noticePage('blocked')]);
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
      expectBlocked(text, address);
      expect(alarms(id)).toBeGreaterThan(i);
    }
    const paid = await scene.post(id, { token, outcome: 'paid' });
    expect([404, 500]).toContain(paid.status);
    expectBlocked(paid.text, address);
    const told = scene.errors.map(({ fields }) => fields.requestId);
    expect(told).toContain(answers[0]!.headers['x-request-id']);
  });

  test('takes the address out of a page that is open', async () => {
    const { id, address } = await scene.calls.made();
    const live = await scene.live(id);
    expect((await live.until(() => true)).data).toContain(address);
    await tamper(id, `address = '${thief()}'`);
    await live.ended;
    const { data } = live.events.at(-1)!;
    expect(noticePage('blocked')).toContain(data);
    expect(data).toMatch(/^<main[\s\S]*<\/main>$/);
    expectBlocked(data, address);
    // One alarm only, because a closed page is not read again.
    expect(alarms(id)).toBe(1);
  });

  test('leaves the other pages alone, and comes back once it is mended', async () => {
    const [first, second] = [await scene.calls.made(), await scene.calls.made()];
    await tamper(first.id, 'amount = amount + 1');
    const answers = await Promise.all([first.id, second.id, first.id, second.id].map(id => scene.get(id)));
    expect(answers.map(({ status }) => status)).toEqual([500, 200, 500, 200]);
    await tamper(first.id, 'amount = amount - 1');
    expect(attributeOf((await scene.get(first.id)).text, 'data-id')).toBe(first.id);
  });
});
