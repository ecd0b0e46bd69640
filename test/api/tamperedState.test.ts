import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { type MoneyScene, startMoneyScene } from '../dashboard/moneyScene.ts';
import { expectError } from './paymentCalls.ts';

let scene: MoneyScene;
let errors: { fields: object; message: string }[] = [];
const log: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields, message) => void errors.push({ fields, message }),
};
beforeAll(async () => {
  scene = await startMoneyScene({ log });
});
beforeEach(() => {
  errors = [];
});

/** Writes as the owner of the database, past the triggers. */
const change = (id: string, assignment: string): Promise<void> =>
  scene.dashboard.scene.tamper(`begin; set local session_replication_role = replica;
    update payments set ${assignment} where id = '${id}'; commit`);

const alarms = (id: string) =>
  errors.filter(
    ({ fields, message }) =>
      message === 'a payment does not match its seal' && (fields as { paymentId?: string }).paymentId === id,
  );

const changes = [
  `status = 'completed', completed_at = now()`,
  `status = 'canceled', canceled_at = now()`,
  `exception = 'underpaid'`,
  'amount_received = amount',
  'amount_received = amount, amount_confirmed = amount',
  'amount_accepted = 1, accepted_at = now()',
  `completed_at = now()`,
  `canceled_at = now()`,
  'sequence = sequence + 1',
  'detected = not detected',
  'strayed = not strayed',
  'time_ended_at = now()',
  'covered_number = 1',
  `tiers = '[{"atLeast":"0","kind":"depth","depth":0}]'`,
  `tiers = jsonb_set(tiers, '{0,depth}', '"2"')`,
  'tolerance_bps = tolerance_bps + 500',
  'dust_floor = dust_floor + 1',
  `late_policy = case late_policy when 'manual' then 'accept' else 'manual' end`,
  'late_window_seconds = late_window_seconds + 1',
  `description = 'Pay 0xbadc0de instead'`,
  `metadata = '{"order":2}'`,
  `callback_url = 'https://thief.example/'`,
  `redirect_url = 'https://thief.example/'`,
  `external_id = 'order-of-a-thief'`,
  `created_at = created_at - interval '1 millisecond'`,
  `expires_at = expires_at + interval '1 day'`,
  `wallet_kind = 'xpub', head_number = 1`,
  'row_seal = null',
  `row_seal = decode(repeat('00', 32), 'hex')`,
];

describe('a payment that was changed in the database is neither shown nor decided', () => {
  test.each(changes)('%s', async assignment => {
    const fields = {
      description: 'A book',
      externalId: assignment.slice(0, 255),
      redirectUrl: 'https://shop.example/',
    };
    const { id } = await scene.calls.made(fields);
    await change(id, assignment);
    const answers = [
      await scene.calls.read(id),
      await scene.calls.list('limit=1'),
      await scene.calls.act(id, 'cancel'),
    ];
    for (const answer of answers) expectError(answer, 500, 'internal_error');
    expect((await scene.owner.call('GET /payments/:id', { params: { id } })).status).toBe(500);
    const lines = (await scene.owner.call('GET /payments.csv')).text.split('\r\n');
    expect(lines.find(line => line.startsWith(id))).toBe(`${id},tampered${','.repeat(13)}`);
    expect(alarms(id)).toHaveLength(5);
    const eventsOf = { name: 'test-events-of', text: 'select type from events where payment_id = $1' };
    const events = await scene.dashboard.scene.admin.db.query(eventsOf, [id]);
    expect(events, 'nothing was decided').toEqual([{ type: 'payment.created' }]);
    await scene.dashboard.scene.tamper(`begin; set local session_replication_role = replica;
      delete from events where payment_id = '${id}'; delete from payments where id = '${id}'; commit`);
  });
});

test('a seal of an older state fits no more, nor does that of another payment', async () => {
  const [first, second] = [await scene.calls.made(), await scene.calls.made()];
  const [{ seal }] = (await scene.sql(
    `select encode(row_seal, 'hex') as seal from payments where id = '${first.id}'`,
  )) as [{ seal: string }];
  expect((await scene.calls.act(first.id, 'cancel')).json.status).toBe('canceled');
  expect((await scene.calls.read(first.id)).json.status).toBe('canceled');
  await change(first.id, `row_seal = decode('${seal}', 'hex')`);
  expectError(await scene.calls.read(first.id), 500, 'internal_error');
  await change(second.id, `row_seal = (select row_seal from payments where id = '${first.id}')`);
  expectError(await scene.calls.read(second.id), 500, 'internal_error');
});

test('an earlier row of a payment that a reorganization took is shown nowhere, and not in the file either', async () => {
  const { id } = await scene.paid({ amount: '9' });
  const row = async (): Promise<string> => {
    const rows = await scene.sql<{ row: string }>(
      `select row_to_json(p)::text as row from payments p where id = '${id}'`,
    );
    return rows[0]!.row;
  };
  const put = (text: string): Promise<void> =>
    scene.dashboard.scene.tamper(`begin; set local session_replication_role = replica;
      delete from payments where id = '${id}';
      insert into payments select * from json_populate_record(null::payments, $row$${text}$row$::json); commit`);
  const before = await row();
  await scene.simulate(id, 'reorg', 'reversed');
  const after = await row();
  await put(before);
  expectError(await scene.calls.read(id), 500, 'internal_error');
  const lines = (await scene.owner.call('GET /payments.csv')).text.split('\r\n');
  expect(lines.find(line => line.startsWith(id))).toBe(`${id},tampered${','.repeat(13)}`);
  await put(after);
  const [line] = (await scene.owner.call('GET /payments.csv')).text.split('\r\n').filter(each => each.startsWith(id));
  expect(line).toMatch(`${id},reversed,reorged,`);
});

test('a page that is open shows no payment that was completed in the database', async () => {
  const { id } = await scene.calls.made();
  const page = () => scene.dashboard.scene.client.call('GET', `/checkout/${id}`, {});
  expect((await page()).status).toBe(200);
  await change(id, `status = 'completed', completed_at = now()`);
  expect((await page()).status).toBe(500);
});

test('a search leaves no changed state to be seen, and a sweep takes no changed payment', async () => {
  const [genuine, changed] = [await scene.paid({ amount: '7' }), await scene.paid({ amount: '8' })];
  await change(changed.id, 'amount_received = amount_received + 1, amount_confirmed = amount_confirmed + 1');
  expect((await scene.owner.call('GET /payments', { query: { search: changed.id } })).status).toBe(500);
  const { transactions } = await scene.plan({ network: 'base', currency: 'USDC' });
  const swept = transactions.flatMap(({ payments }) => payments);
  expect(swept).toContain(genuine.id);
  expect(swept).not.toContain(changed.id);
});
