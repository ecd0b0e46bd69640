import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { applyCoins } from '../../src/engine/chain/applyCoins.ts';
import { advancePayments } from '../../src/engine/payments/advancePayment.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { readShownRow } from '../../src/engine/payments/readPayment.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import { verifySeals } from '../../src/engine/seals/verifySeals.ts';
import { ForgedBlock } from '../../src/storage/chain/blockSeals.ts';
import type { Lease } from '../../src/storage/chain/chains.ts';
import { readPayments } from '../../src/storage/payments/payments.ts';
import { ForgedRow } from '../../src/storage/seals.ts';
import type { Written } from '../api/listingScene.ts';
import type { TestAccount } from '../support/florin.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, contract, genesis, hashOf, makeBlocks, stepOf } from './madeBlocks.ts';

let quiet: QuietScene;
let lease: Lease;
let account: TestAccount;
let paid: Written;
/** The row of the chain before the transfer. */
let earlier: string[];
beforeAll(async () => {
  quiet = await startQuietScene();
});

const scope = () => ({ accountId: account.id, environment: 'sandbox' }) as const;
const decided = async ({ id }: Written): Promise<unknown> => {
  const { failed, payments } = await quiet.context.db.transaction(tx =>
    advancePayments(quiet.context, tx, [{ ...scope(), id }], { whenLocked: 'wait' }),
  );
  return failed[0]?.error ?? payments[0]!.row.status;
};
const shown = async ({ id }: Written) =>
  readShownRow(quiet.context, (await readPayments(quiet.context.listDb, [{ scope: scope(), id }]))[0]!);
const eventsOf = async ({ id }: Written): Promise<string[]> =>
  (await quiet.read<{ type: string }>(`select type from events where payment_id = '${id}' order by sequence`)).map(
    ({ type }) => type,
  );

const first = () => makeBlocks(genesis, 'a', 6, { 3: [{ to: paid.address, amount: 1n }] });
const apply = (...step: Parameters<typeof stepOf>): Promise<void> => applyBlocks(quiet.context, lease, stepOf(...step));
const reorganize = (): Promise<void> => apply(makeBlocks(first()[2]!, 'b', 7), first()[2]!);
/** The chain shows the first blocks again. */
const comeBack = (): Promise<void> => apply([...first().slice(3), ...makeBlocks(first()[5]!, 'a', 6)], first()[2]!);

/** The payment was completed in block 3. */
beforeEach(async () => {
  lease = await beginAnew(quiet.context.db);
  quiet.errors.length = 0;
  const made = await quiet.overdue(1, contract);
  account = made.account;
  [paid] = made.written as [Written];
  await apply(first().slice(0, 1));
  earlier = await rowsOf('chains');
  await apply(first().slice(1), null, 1);
  expect(await decided(paid)).toBe('completed');
});

/** As the owner of the tables, past all guards. */
const forge = (sql: string): Promise<void> =>
  quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);
/** What the role of the service may do, too: the foreign key makes the transfers follow. */
const asService = (sql: string): Promise<void> => quiet.scene.tamper(sql);

const rowsOf = async (table: string, where = 'true'): Promise<string[]> =>
  (await quiet.read<{ row: string }>(`select row_to_json(t)::text as row from ${table} t where ${where}`)).map(
    ({ row }) => row,
  );
const putRows = (table: string, where: string, rows: readonly string[]): Promise<void> =>
  forge(
    `delete from ${table} where ${where}; ${rows
      .map(row => `insert into ${table} select * from json_populate_record(null::${table}, $row$${row}$row$::json)`)
      .join('; ')}`,
  );

const hide = (): Promise<void> => asService(`update blocks set canonical = false where hash = '${hashOf('a', 3)}'`);
/** The orphaned block takes the place of the one that is there. */
const putBack = (): Promise<void> =>
  asService(`update blocks set canonical = false where number = 3 and canonical;
    update blocks set canonical = true where number = 3 and hash = '${hashOf('a', 3)}'`);
const expectRefused = async (): Promise<void> => {
  const before = await eventsOf(paid);
  expect(await decided(paid)).toBeInstanceOf(TamperedPayment);
  expect(await eventsOf(paid)).toEqual(before);
  expect(quiet.errors.map(({ fields }) => fields.forged)).toContain('transfers');
};

describe('a transfer that a reorganization took pays nothing when somebody puts its block back', () => {
  test('afterwards', async () => {
    await reorganize();
    expect(await decided(paid)).toBe('reversed');
    await putBack();
    await expectRefused();
    await expect(shown(paid)).rejects.toBeInstanceOf(TamperedPayment);
    await apply(makeBlocks({ number: 9, hash: hashOf('b', 9) }, 'b', 2));
    await expectRefused();
  });

  test('with an earlier row of the payment', async () => {
    const where = `id = '${paid.id}'`;
    const rows = await rowsOf('payments', where);
    await reorganize();
    await putRows('payments', where, rows);
    await putBack();
    await expectRefused();
    await expect(shown(paid)).rejects.toBeInstanceOf(TamperedPayment);
  });

  test('which they had called orphaned before the reorganization', async () => {
    await hide();
    await reorganize();
    expect(await decided(paid)).toBe('reversed');
    await putBack();
    await expectRefused();
  });

  test('while the payment could not be decided', async () => {
    const [sealed] = await quiet.read<{ seal: string }>(
      `select encode(row_seal, 'hex') as seal from payments where id = '${paid.id}'`,
    );
    await forge(`update payments set row_seal = sha256('junk') where id = '${paid.id}'`);
    await reorganize();
    await forge(`update payments set row_seal = decode('${sealed!.seal}', 'hex') where id = '${paid.id}'`);
    await putBack();
    await expectRefused();
  });

  test('and had removed it with its transfer during the reorganization', async () => {
    const where = `hash = '${hashOf('a', 3)}'`;
    const [blocks, transfers] = [await rowsOf('blocks', where), await rowsOf('transfers')];
    await forge(`delete from transfers; delete from blocks where ${where}`);
    await reorganize();
    await putRows('blocks', 'number = 3', blocks);
    await putRows('transfers', 'true', transfers);
    await expectRefused();
  });

  test('and had called another orphaned block the fork', async () => {
    await reorganize();
    await comeBack();
    await asService(`update blocks set canonical = false where number in (3, 4) and canonical;
      update blocks set canonical = true where hash in ('${hashOf('b', 3)}', '${hashOf('b', 4)}')`);
    const fork = makeBlocks(first()[2]!, 'b', 2)[1]!;
    await expect(apply(makeBlocks(fork, 'c', 12), fork)).rejects.toBeInstanceOf(ForgedBlock);
  });

  test('and had put back the row of the chain, so that it was read again without a reorganization', async () => {
    await putRows('chains', 'true', earlier);
    await asService('update blocks set canonical = false where number > 0');
    await apply(makeBlocks(first()[0]!, 'b', 9));
    expect(await decided(paid)).toBe('reversed');
    await putBack();
    await expectRefused();
  });

  test('and had written that a node showed it later', async () => {
    await reorganize();
    await asService('update blocks b set branch = c.branch from chains c where c.caip2 = b.caip2');
    await putBack();
    await expectRefused();
  });

  test('orphaned before there were branches', async () => {
    await reorganize();
    await forge('delete from chain_branches; update chains set branch = null; update blocks set branch = null');
    const tables = new Set(['chains', 'blocks']);
    await sealRows(quiet.context, { all: true, tables: name => tables.has(name) });
    expect(await decided(paid)).toBe('reversed');
    await apply(makeBlocks({ number: 9, hash: hashOf('b', 9) }, 'b', 1));
    await putBack();
    await expectRefused();
  });
});

describe('a transfer that a reorganization took', () => {
  test('pays again when the chain brings its block back, also if the payment could not be decided then', async () => {
    await reorganize();
    await forge(`update payments set status = 'confirming' where id = '${paid.id}'`);
    await comeBack();
    await forge(`update payments set status = 'reversed' where id = '${paid.id}'`);
    expect(await decided(paid)).toBe('completed');
    expect((await shown(paid)).status).toBe('completed');
    expect((await verifySeals(quiet.scene.admin)).problems).toEqual([]);
  });

  test('pays once when its block goes, comes back and goes', async () => {
    for (const round of [1, 2]) {
      await reorganize();
      expect(await decided(paid)).toBe('reversed');
      await comeBack();
      expect(await decided(paid), `${round}`).toBe('completed');
    }
    await reorganize();
    await putBack();
    await expectRefused();
  });

  test('is nothing that another start of the process takes', async () => {
    lease = { ...lease };
    await apply(makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 2));
    expect(await decided(paid)).toBe('completed');
    expect(await quiet.read('select count(*)::int as branches from chain_branches')).toEqual([{ branches: 2 }]);
    await reorganize();
    expect(await decided(paid)).toBe('reversed');
  });
});

test('a payment that was reversed does not read as completed when somebody puts back its row', async () => {
  const where = `id = '${paid.id}'`;
  const rows = await rowsOf('payments', where);
  await reorganize();
  expect((await shown(paid)).status).toBe('reversed');
  await putRows('payments', where, rows);
  await expect(shown(paid)).rejects.toBeInstanceOf(TamperedPayment);
  await expectRefused();
});

describe('a payment is not reversed, and nobody is told so,', () => {
  test('when somebody calls its block orphaned', async () => {
    await hide();
    await expectRefused();
    await asService(`update blocks set canonical = true where hash = '${hashOf('a', 3)}'`);
    expect(await decided(paid)).toBe('completed');
  });

  test('when somebody removes its transfer', async () => {
    await forge('delete from transfers');
    await expectRefused();
  });
});

test('a payment is not completed by transfers that somebody calls final', async () => {
  const made = await quiet.overdue(1, contract);
  account = made.account;
  const [more] = made.written as [Written];
  await apply(makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 1, { 6: [{ to: more.address, amount: 1n }] }));
  expect(await decided(more)).toBe('confirming');
  await asService('update transfers set settled = true');
  expect(await decided(more)).toBeInstanceOf(TamperedPayment);
});

test('coin in a block that somebody calls orphaned does not count twice', async () => {
  const made = await quiet.overdue(1);
  account = made.account;
  const [coin] = made.written as [Written];
  const at = makeBlocks({ number: 5, hash: hashOf('a', 5) }, 'a', 300, {
    6: [{ to: coin.address, amount: 1n, contract: null }],
  });
  await apply(at);
  await asService(`update blocks set canonical = false where number = 6`);
  const movement = {
    key: 'found',
    txHash: null,
    from: null,
    to: coin.address,
    contract: null,
    amount: 1n,
    verified: true,
  };
  await applyCoins(quiet.context, lease, [{ ...at[0]!, movements: [movement] }]);
  expect(await quiet.read(`select count(*)::int as n from transfers where payment_id = '${coin.id}'`)).toEqual([
    { n: 1 },
  ]);
});

describe('branches that somebody', () => {
  beforeEach(reorganize);
  const expectFound = async (): Promise<void> =>
    expect((await verifySeals(quiet.scene.admin)).problems).toContainEqual(
      expect.stringContaining(`the branches of ${caip2} are not those that its row names`),
    );

  test('removed hide no reorganization', async () => {
    await forge('delete from chain_branches where previous is not null');
    await putBack();
    await expectRefused();
    await expect(apply(makeBlocks({ number: 9, hash: hashOf('b', 9) }, 'b', 1))).rejects.toBeInstanceOf(ForgedRow);
    await expectFound();
  });

  test('removed between others are missed', async () => {
    await comeBack();
    await reorganize();
    await forge(
      'delete from chain_branches where number = (select previous from chain_branches order by number desc limit 1)',
    );
    await putBack();
    await expectRefused();
    await expectFound();
  });

  test('changed are not believed', async () => {
    await forge('update chain_branches set above = 9');
    await putBack();
    await expectRefused();
  });

  test('would change or remove stay, without the rights of the owner', async () => {
    await expect(asService('update chain_branches set above = 9')).rejects.toThrow('a change of chain_branches');
    await expect(asService('delete from chain_branches')).rejects.toThrow('a change of chain_branches');
  });

  test('outdated by putting back the row of the chain stop it', async () => {
    await putRows('chains', 'true', earlier);
    await expect(apply(makeBlocks(first()[0]!, 'b', 9))).rejects.toBeInstanceOf(ForgedRow);
    await expectFound();
    await putBack();
    await expectRefused();
  });
});
