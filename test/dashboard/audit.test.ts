import { beforeAll, describe, expect, test, vi } from 'vitest';
import { operatorActor, recordAudit } from '../../src/engine/audit/audit.ts';
import { sealRegisters } from '../../src/engine/audit/register.ts';
import { run } from '../cli/cliProcess.ts';
import { startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';

// Each run of `florin doctor` is a process of its own.
vi.setConfig({ testTimeout: 120_000 });

let dashboard: TestDashboard;
beforeAll(async () => {
  // The tests remove whole logs. If the server had remembered one meanwhile, the doctor would miss it.
  dashboard = await startDashboard({ keepAuditHeadsMs: 3_600_000 });
});

type Finding = { check: string; ok: boolean; detail: string };

const doctor = async (env: Record<string, string> = {}): Promise<{ code: number | null; findings: Finding[] }> => {
  const { config } = dashboard.scene;
  const settings = { DATABASE_URL: config.database!.url, ...env };
  const { code, stdout, stderr } = await run(
    ['doctor', '--json', '--data-dir', config.dataDir],
    config.dataDir,
    settings,
  );
  expect(stderr).toBe('');
  return { code, findings: JSON.parse(stdout).findings };
};

const problems = async (): Promise<string[]> => {
  const { code, findings } = await doctor();
  const found = findings.filter(finding => !finding.ok).map(finding => `${finding.check}: ${finding.detail}`);
  expect(code).toBe(found.length === 0 ? 0 : 1);
  return found;
};

/** Writes as the superuser, with all triggers off. */
const tamper = (sql: string): Promise<void> =>
  dashboard.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

const newAccount = async (rows: number): Promise<string> => {
  const { id } = await dashboard.scene.account();
  const { admin } = dashboard.scene;
  // Removes the rows about the creation of the account, so that the test counts from one.
  await tamper(`delete from audit_log where account_id = '${id}'; delete from audit_heads where account_id = '${id}'`);
  await sealRegisters(admin, { all: false });
  for (let i = 0; i < rows; i++) {
    await admin.db.transaction(tx =>
      recordAudit(admin, tx, {
        accountId: id,
        environment: null,
        actor: operatorActor,
        action: 'webhook.tested',
        subject: `thing ${i}`,
        detail: { number: i, text: 'ä "quoted" \u2028' },
        address: null,
      }),
    );
  }
  return id;
};

test('what people do is in the log, newest first, with who, what, whose and from where', async () => {
  const person = await dashboard.newPerson('developer');
  const client = dashboard.stranger();
  await client.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  await client.do('PATCH /me', { body: { name: 'Dee' } });
  await client.do('POST /sign-out');
  const owner = await dashboard.as('owner');
  const { data } = await owner.do('GET /audit', { query: { actor: person.personId } });
  expect(data.map(row => row.action)).toEqual(['session.signed_out', 'person.renamed', 'person.signed_in']);
  expect(data[1]).toMatchObject({
    at: expect.stringMatching(/Z$/),
    environment: null,
    actor: { kind: 'person', id: person.personId },
    subject: person.personId,
    detail: { to: 'Dee' },
    address: expect.stringMatching(/^(::1|127\.0\.0\.1|::ffff:127\.0\.0\.1)$/),
  });
  expect(JSON.stringify(data)).not.toContain(testPassword);
});

test('it is read a page at a time, and by what was done', async () => {
  const id = await newAccount(5);
  const owner = await dashboard.newPerson('owner', id);
  const numbers: unknown[] = [];
  let before: string | undefined;
  do {
    const query = { action: 'webhook.tested', limit: 2, ...(before === undefined ? {} : { before }) };
    const page = await owner.do('GET /audit', { query });
    numbers.push(...page.data.map(row => row.detail.number));
    before = page.next ?? undefined;
  } while (before !== undefined);
  expect(numbers).toEqual([4, 3, 2, 1, 0]);
  expect((await owner.do('GET /audit', { query: { action: 'nothing.such' } })).data).toEqual([]);
  for (const query of [{ limit: 0 }, { limit: 1000 }, { before: 'x' }, { before: '-1' }, { colour: 'red' }]) {
    expect((await owner.call('GET /audit', { query })).status, JSON.stringify(query)).toBe(400);
  }
});

test('the database itself refuses to change it', async () => {
  await newAccount(1);
  const { db } = dashboard.scene.admin;
  for (const sql of [
    `update audit_log set action = 'other.thing'`,
    'delete from audit_log',
    'truncate audit_log',
    'update audit_heads set sequence = sequence - 1',
    'delete from audit_heads',
  ]) {
    await expect(db.script(sql), sql).rejects.toMatchObject({ code: '23000' });
  }
});

test('rows that are written at the same time are one chain', async () => {
  const id = await newAccount(0);
  const { admin } = dashboard.scene;
  const entry = {
    accountId: id,
    environment: null,
    actor: operatorActor,
    action: 'webhook.tested',
    subject: null,
  } as const;
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      admin.db.transaction(tx => recordAudit(admin, tx, { ...entry, detail: { number }, address: null })),
    ),
  );
  const rows = await admin.db.query<{ sequence: string }>({
    name: '',
    text: `select sequence from audit_log where account_id = '${id}' order by sequence`,
  });
  expect(rows.map(row => Number(row.sequence))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(await problems()).toEqual([]);
});

test('the doctor finds nothing where nothing is wrong', async () => {
  await newAccount(3);
  const { code, findings } = await doctor();
  expect(code).toBe(0);
  expect(findings.map(finding => [finding.check, finding.ok])).toEqual([
    ['database', true],
    ['migrations', true],
    ['master key', true],
    ['key rotation', true],
    ['audit log', true],
    ['seals', true],
    ['wallets', true],
    ['ledger', true],
    ['restore', true],
    ['outbox', true],
    ['standby', true],
  ]);
});

const swapped = (row: string): string =>
  `update audit_log set sequence = sequence + 1000 where ${row} in (2, 3);
    update audit_log set sequence = 1005 - sequence where ${row} in (1002, 1003)`;

const copied = (of: string): string =>
  `update audit_log a set (action, detail, subject, previous_hash, hash, at) =
    (select action, detail, subject, previous_hash, hash, at from audit_log b where b.account_id = a.account_id and sequence = 2)
    where ${of} = 3`;

/** `row` is a condition on the account that ends with the column `sequence`. */
const tampered: Readonly<Record<string, [sql: (row: string) => string, fault: string]>> = {
  'a changed action': [row => `update audit_log set action = 'other.thing' where ${row} = 3`, 'row 3 was changed'],
  'a changed detail': [row => `update audit_log set detail = '{"number":9}' where ${row} = 3`, 'row 3 was changed'],
  'a changed time': [row => `update audit_log set at = at + interval '1 second' where ${row} = 3`, 'row 3 was changed'],
  'a changed person': [row => `update audit_log set actor_name = 'Eve' where ${row} = 1`, 'row 1 was changed'],
  'a row that is gone': [row => `delete from audit_log where ${row} = 3`, 'row 3 is missing'],
  'last rows that are gone': [row => `delete from audit_log where ${row} > 3`, 'row 4 is missing'],
  'two rows that changed places': [swapped, 'row 2 was changed'],
  'a row that was copied in place of another, with its hash': [copied, 'row 3 was changed'],
};

describe('the doctor names the first row that is not as it was written', () => {
  const accountOf = new Map<string, string>();
  let found: string[];
  // One look at all of them: each is a process of its own.
  beforeAll(async () => {
    for (const [name, [sql]] of Object.entries(tampered)) {
      const id = await newAccount(5);
      accountOf.set(name, id);
      await tamper(sql(`account_id = '${id}' and sequence`));
    }
    const [audit, ...others] = await problems();
    const cut = accountOf.get('last rows that are gone');
    expect(others).toEqual([expect.stringMatching(`^seals: keys, .* of ${cut} are not those .* ${cut}$`)]);
    found = audit!.replace('audit log: ', '').split('; ');
    // The next test must find an intact log.
    const ids = [...accountOf.values()].map(id => `'${id}'`).join();
    await tamper(
      `delete from audit_log where account_id in (${ids}); delete from audit_heads where account_id in (${ids})`,
    );
  });

  test.each(Object.keys(tampered))('%s', name => {
    const id = accountOf.get(name)!;
    const ofAccount = found.filter(problem => problem.includes(id));
    expect(ofAccount).toEqual([`audit log of ${id}: ${tampered[name]![1]}`]);
  });

  test('and no other', () => expect(found).toHaveLength(accountOf.size));
});

test('a chain that was written anew without the key is found', { tags: ['thorough'] }, async () => {
  const id = await newAccount(3);
  await tamper(`update audit_log set action = 'other.thing', hash = sha256('anything') where account_id = '${id}' and sequence = 3;
    update audit_heads set hash = sha256('anything') where account_id = '${id}'`);
  expect(await problems()).toEqual([
    `audit log: audit log of ${id}: row 3 was changed`,
    expect.stringMatching(`^seals: keys, wallets, members, webhook endpoints or settings of ${id} are not those`),
  ]);
  await tamper(`delete from audit_log where account_id = '${id}'; delete from audit_heads where account_id = '${id}'`);
  await sealRegisters(dashboard.scene.admin, { all: false });
});

test('the doctor finds a wallet that was changed, and a master key that is another', {
  tags: ['thorough'],
}, async () => {
  const { id } = await dashboard.scene.account();
  await tamper(`update wallets set destination = '0x52908400098527886E0F7030069857D2E4169EE7'
    where account_id = '${id}' and network = 'base'`);
  expect(await problems()).toEqual([
    expect.stringMatching(`^seals: wallets ${id} sandbox base 1 was changed in the database; keys, wallets,`),
    `wallets: wallet base (sandbox, version 1) of ${id} was changed`,
  ]);
  await tamper(`delete from wallets where account_id = '${id}'`);
  const { code, findings } = await doctor({ FLORIN_MASTER_KEY: 'ab'.repeat(32) });
  expect(code).toBe(1);
  expect(findings.at(-1)).toMatchObject({ check: 'master key', ok: false });
});

test('the doctor says that a database does not answer, or is behind', { tags: ['thorough'] }, async () => {
  const { code, findings } = await doctor({ DATABASE_URL: 'postgres://nobody:x@127.0.0.1:1/none' });
  expect(code).toBe(1);
  expect(findings).toMatchObject([{ check: 'database', ok: false }]);
  await tamper(`create table kept as select * from schema_migrations;
    delete from schema_migrations where version = (select max(version) from schema_migrations)`);
  expect(await problems()).toEqual([expect.stringMatching(/^migrations: 1 are missing/)]);
  await tamper('delete from schema_migrations; insert into schema_migrations select * from kept; drop table kept');
});
