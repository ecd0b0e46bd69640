import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { expectError, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let calls: PaymentCalls;
let errors: { fields: object; message: string }[] = [];
const log: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields, message) => void errors.push({ fields, message }),
};
beforeAll(async () => {
  scene = await startTestFlorin({ log });
});
beforeEach(async () => {
  calls = paymentCalls(scene, await scene.account());
  errors = [];
});

/** Addresses are unique, so each test has its own thief's address, with a common prefix. */
const thiefMark = '0xbadc0debadc0debadc0de';
const thief = (): string => thiefMark + randomBytes(10).toString('hex');

const update = (id: string, assignment: string): Promise<void> =>
  scene.admin.db.script(`update payments set ${assignment} where id = '${id}'`);

/** Writes as the owner of the database, past the trigger. */
const tamper = (id: string, assignment: string): Promise<void> =>
  scene.admin.db.script(`begin; alter table payments disable trigger payments_frozen;
    update payments set ${assignment} where id = '${id}';
    alter table payments enable trigger payments_frozen; commit`);

const changes = [
  ['the address', `address = '${thief()}'`],
  ['the treasury', `treasury = '${thief()}'`],
  ['the amount', 'amount = 1'],
  ['the token', `contract = '${thief()}'`],
  ['the token, to the native coin', 'contract = null'],
  ['the chain', `caip2 = 'eip155:1'`],
  ['the derivation index', 'derivation_index = derivation_index + 1000000'],
  ['the kind of wallet', `wallet_kind = 'xpub'`],
  ['the seal', `mac = decode(repeat('00', 32), 'hex')`],
  ['the decimals', 'decimals = 3'],
  ['the currency', `currency = 'DAI'`],
  ['the network', `network = 'ethereum'`],
] as const;

describe('a plain UPDATE is refused by the database', () => {
  // A rotation of the master key makes the seal anew.
  test.each(changes.filter(([what]) => what !== 'the seal'))('of %s', async (_, assignment) => {
    const payment = await calls.made();
    await expect(update(payment.id, assignment)).rejects.toMatchObject({ code: '23000' });
    expect((await calls.read(payment.id)).json).toEqual(payment);
  });
});

describe('a change past the guard is never shown', () => {
  test.each(changes.slice(0, 9))(
    'of %s: 500 internal_error everywhere, and an error in the log',
    async (_, assignment) => {
      const payment = await calls.made();
      // A payment that was verified before must be verified again after a change.
      expect((await calls.read(payment.id)).json).toEqual(payment);
      await tamper(payment.id, assignment);
      const answers = [await calls.read(payment.id), await calls.list(), await calls.act(payment.id, 'cancel')];
      for (const answer of answers) {
        expectError(answer, 500, 'internal_error');
        expect(answer.text.toLowerCase()).not.toContain(thiefMark);
        expect(answer.text).not.toContain(payment.id);
      }
      expect(errors.filter(error => error.message === 'a payment does not match its seal')).toEqual(
        answers.map(() => ({
          fields: expect.objectContaining({ paymentId: payment.id }),
          message: 'a payment does not match its seal',
        })),
      );
      // The refused cancel changed nothing.
      const rows = { name: 'test-state', text: 'select status, sequence from payments where id = $1' };
      expect(await scene.admin.db.query(rows, [payment.id])).toEqual([{ status: 'pending', sequence: 1 }]);
    },
  );

  test('of one payment leaves the others of the account readable', async () => {
    const [first, second] = [await calls.made(), await calls.made()];
    await tamper(first.id, `address = '${thief()}'`);
    expect((await calls.read(second.id)).json).toEqual(second);
  });

  test('the seal of another payment does not fit', async () => {
    const [first, second] = [await calls.made(), await calls.made()];
    await tamper(first.id, `mac = (select mac from payments where id = '${second.id}')`);
    expectError(await calls.read(first.id), 500, 'internal_error');
  });
});

test('a changed wallet hands out no address', async () => {
  const account = await scene.account();
  await scene.admin.db.script(`update wallets set destination = '${thief()}' where account_id = '${account.id}'`);
  expectError(await paymentCalls(scene, account).create(), 500, 'internal_error');
  expect(errors.map(error => error.message)).toContain('a wallet does not match its seal');
  expect((await paymentCalls(scene, account).list()).json.pagination.total).toBe(0);
});

test("a wallet row with another account's seal hands out no address", async () => {
  const [mine, other] = [await scene.account(), await scene.account()];
  await scene.admin.db.script(`update wallets w set destination = o.destination, mac = o.mac from wallets o
    where w.account_id = '${mine.id}' and o.account_id = '${other.id}' and w.network = o.network`);
  expectError(await paymentCalls(scene, mine).create(), 500, 'internal_error');
});

test('a 500 tells nothing but a request id that the log has too', async () => {
  const { id } = await calls.made();
  await tamper(id, `address = '${thief()}'`);
  const { error } = (await calls.read(id)).json;
  expect(error.message).not.toMatch(/seal|mac|payment/i);
  expect(errors.map(entry => (entry.fields as { requestId?: string }).requestId)).toContain(error.requestId);
});
