import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { send } from '../support/send.ts';
import { eventually } from '../support/until.ts';
import { type Ended, makeRoom, run, type Server, startServer } from './cliProcess.ts';

const xpub =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';
const xprv =
  'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';
const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let room: string;
let server: Server;
beforeAll(async () => {
  room = await makeRoom();
  server = await startServer(room);
});

const florin = (...args: string[]): Promise<Ended> => run(args, room);
/** A command that succeeds, as JSON: one line and nothing else. */
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin(...args, '--json');
  expect(code, stderr).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
};
/** A command that is refused: a sentence on stderr, no stack, nothing on stdout; a code for what is wrong. */
const refused = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await florin(...args);
  const expected = /No (?:account|key) has the id/.test(stderr)
    ? 3
    : /already rotated|Florin is not running/.test(stderr)
      ? 1
      : 2;
  expect(code, `${args.join(' ')}: ${stderr}`).toBe(expected);
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/^\s*$|configuration|\n\s+at /);
  return stderr;
};
const payments = async (key: string, environment: 'sandbox' | 'production' = 'sandbox') =>
  (await send(server.urls[environment], 'GET', '/v1/payments', { ca: server.ca, key })).status;

describe('accounts', () => {
  test('create says the whole account, and list has them all', async () => {
    const [plain, enterprise] = await Promise.all([
      json('accounts', 'create', '--name', 'Shop Ω'),
      json('accounts', 'create', '--name', 'Big', '--plan', 'enterprise', '--rate-limit', '50', '--burst', '5'),
    ]);
    const id = expect.stringMatching(/^acct_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(plain).toEqual({ id, name: 'Shop Ω', plan: 'starter', rateLimit: null, burst: null, createdAt: time });
    expect(enterprise).toMatchObject({ id, name: 'Big', plan: 'enterprise', rateLimit: 50, burst: 5 });
    const { data } = await json('accounts', 'list');
    expect(data).toEqual(expect.arrayContaining([plain, enterprise]));
    const text = (await florin('accounts', 'list')).stdout;
    for (const account of data) expect(text).toContain(account.id);
  });

  test('update says who may frame the checkout, in one environment, in place of those before', {
    tags: ['thorough'],
  }, async () => {
    const { id } = await json('accounts', 'create', '--name', 'Framed');
    const update = (...args: string[]) => json('accounts', 'update', id, ...args);
    const origins = ['--checkout-origin', 'https://Shop.example', '--checkout-origin', 'https://two.example:444'];
    const named = { accountId: id, checkoutOrigins: ['https://shop.example', 'https://two.example:444'] };
    expect(await update(...origins)).toEqual({ ...named, environment: 'sandbox' });
    expect(await update('--environment', 'production', ...origins)).toEqual({ ...named, environment: 'production' });
    expect(await update('--checkout-origin', 'https://three.example')).toMatchObject({
      checkoutOrigins: ['https://three.example'],
    });
    expect(await update('--no-checkout-origin')).toMatchObject({ checkoutOrigins: [] });
    const stderr = await Promise.all([
      refused('accounts', 'update', id, '--checkout-origin', 'http://shop.example'),
      refused('accounts', 'update', id),
      refused('accounts', 'update', `acct_${'0'.repeat(26)}`, '--no-checkout-origin'),
    ]);
    expect(stderr[0]).toContain('http://shop.example is not an origin');
    expect(stderr[1]).toContain('--checkout-origin');
    expect(stderr[2]).toContain('No account');
  });

  test('update says where payers ask, in one environment, and takes it back', { tags: ['thorough'] }, async () => {
    const { id } = await json('accounts', 'create', '--name', 'Asked');
    const update = (...args: string[]) => json('accounts', 'update', id, ...args);
    const sandbox = { accountId: id, environment: 'sandbox', supportContact: 'help@acme.example' };
    expect(await update('--support-contact', 'help@Acme.example')).toEqual(sandbox);
    const both = ['--support-contact', 'https://acme.example/help', '--checkout-origin', 'https://shop.example'];
    expect(await update('--environment', 'production', ...both)).toMatchObject({
      checkoutOrigins: ['https://shop.example'],
      supportContact: 'https://acme.example/help',
    });
    expect(await update('--no-support-contact')).toEqual({ ...sandbox, supportContact: null });
    const { stdout } = await florin('accounts', 'update', id, '--no-support-contact', '--no-checkout-origin');
    expect(stdout).toBe(`The sandbox checkout of ${id} may be embedded by no other site.
The sandbox checkout of ${id} shows no contact.\n`);
    const stderr = await Promise.all([
      refused('accounts', 'update', id, '--support-contact', 'javascript:alert(1)'),
      refused('accounts', 'update', id, '--support-contact'),
      refused('accounts', 'update', `acct_${'0'.repeat(26)}`, '--no-support-contact'),
    ]);
    expect(stderr[0]).toContain('javascript:alert(1) is not a contact');
    expect(stderr[1]).toContain('--support-contact');
    expect(stderr[2]).toContain('No account');
  });

  test('refusals', async () => {
    const stderr = await Promise.all([
      refused('accounts', 'create'),
      refused('accounts', 'create', '--name', 'X', '--plan', 'gold'),
      refused('accounts', 'create', '--name', 'X', '--plan', 'growth', '--rate-limit', '9'),
      refused('accounts', 'create', '--name', 'X', '--plan', 'enterprise', '--rate-limit', 'many'),
    ]);
    expect(stderr[0]).toContain('--name');
    expect(stderr[1]).toContain('sandbox, starter, growth, enterprise');
    expect(stderr[2]).toMatch(/Enterprise/);
    expect(stderr[3]).toMatch(/whole number/);
  });
});

describe('keys', () => {
  test('create gives a key that works at once, for the first account unless one is named', async () => {
    const account = await json('accounts', 'create', '--name', 'Keys');
    const [first, named] = await Promise.all([
      json('keys', 'create'),
      json(
        'keys',
        'create',
        '--account',
        account.id,
        '--environment',
        'production',
        '--scopes',
        'payments:read',
        '--name',
        'n',
      ),
    ]);
    expect(first).toEqual({
      id: expect.stringMatching(/^key_[0-9a-hjkmnp-tv-z]{26}$/),
      accountId: (await json('accounts', 'list')).data[0].id,
      environment: 'sandbox',
      name: '',
      hint: expect.stringContaining('sk_test_'),
      scopes: ['payments:read', 'payments:write', 'payments:resolve', 'webhooks:read', 'webhooks:write'],
      ipAllow: null,
      createdAt: time,
      expiresAt: null,
      revokedAt: null,
      successorId: null,
      key: expect.stringMatching(/^sk_test_[0-9A-Za-z]{38}$/),
    });
    expect(named).toMatchObject({
      accountId: account.id,
      environment: 'production',
      scopes: ['payments:read'],
      name: 'n',
    });
    expect(named.key).toMatch(/^sk_live_/);
    expect(await payments(first.key)).toBe(200);
    expect(await payments(named.key, 'production')).toBe(200);
    const webhooks = await send(server.urls.production, 'GET', '/v1/webhooks', { ca: server.ca, key: named.key });
    expect(webhooks.status).toBe(403);
  });

  test('an expiry and an address list are kept', { tags: ['thorough'] }, async () => {
    const past = await json('keys', 'create', '--expires', '2020-01-01T00:00:00Z');
    expect(past.expiresAt).toBe('2020-01-01T00:00:00.000Z');
    expect(await payments(past.key)).toBe(401);
    const elsewhere = await json('keys', 'create', '--ip', '203.0.113.0/24', '2001:db8::1');
    expect(elsewhere.ipAllow).toEqual(['203.0.113.0/24', '2001:db8::1/128']);
    expect(await payments(elsewhere.key)).toBe(403);
  });

  test('list shows hints and never a key', { tags: ['thorough'] }, async () => {
    const { key, id } = await json('keys', 'create');
    const { data } = await json('keys', 'list');
    const text = (await florin('keys', 'list')).stdout;
    expect(data.map((each: { id: string }) => each.id)).toContain(id);
    expect(text).toContain(id);
    for (const shown of [JSON.stringify(data), text]) {
      expect(shown).not.toContain(key.slice(8, 40));
      expect(shown).not.toContain('"key"');
    }
  });

  test('rotate keeps the old key for the overlap', { tags: ['thorough'] }, async () => {
    const old = await json('keys', 'create', '--scopes', 'payments:read');
    const next = await json('keys', 'rotate', old.id, '--overlap', '1h');
    expect(next).toMatchObject({ accountId: old.accountId, scopes: ['payments:read'], successorId: null });
    expect([await payments(old.key), await payments(next.key)]).toEqual([200, 200]);
    const last = await json('keys', 'rotate', next.id, '--overlap', '0');
    await eventually(async () => expect(await payments(next.key)).toBe(401));
    expect(await payments(last.key)).toBe(200);
    expect(await refused('keys', 'rotate', old.id)).toContain(next.id);
  });

  test('revoke ends a key that the running server has seen', { tags: ['thorough'] }, async () => {
    const { id, key } = await json('keys', 'create');
    expect(await payments(key)).toBe(200);
    expect(await json('keys', 'revoke', id)).toMatchObject({ id, revokedAt: time });
    await eventually(async () => expect(await payments(key)).toBe(401));
    expect((await florin('keys', 'revoke', id)).code, 'again').toBe(0);
  });

  test('refusals', { tags: ['thorough'] }, async () => {
    const stderr = await Promise.all([
      refused('keys', 'create', '--account', 'acct_none'),
      refused('keys', 'create', '--scopes', 'payments:read,everything'),
      refused('keys', 'create', '--environment', 'live'),
      refused('keys', 'create', '--expires', 'tomorrow'),
      refused('keys', 'create', '--ip', 'nonsense'),
      refused('keys', 'rotate', 'key_none'),
      refused('keys', 'rotate', 'key_none', '--overlap', '2h'),
      refused('keys', 'revoke', 'key_none'),
      refused('keys', 'revoke'),
    ]);
    expect(stderr[0]).toContain('acct_none');
    expect(stderr[1]).toContain('webhooks:write');
    expect(stderr[2]).toContain('production, sandbox');
    expect(stderr[6]).toContain('24h');
    expect(stderr[7]).toContain('key_none');
  });
});

describe('wallets set', () => {
  const set = ['wallets', 'set', '--environment', 'production', '--network'];

  test('takes a treasury in one case or with a right checksum, and an extended public key', async () => {
    const [lower, mixed, extended] = [
      await json(...set, 'base', '--treasury', treasury.toLowerCase()),
      await json(...set, 'polygon', '--treasury', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
      await json(...set, 'ethereum', '--xpub', xpub),
    ];
    const accountId = (await json('accounts', 'list')).data[0].id;
    const common = { accountId, environment: 'production' };
    expect(lower).toEqual({ ...common, network: 'base', kind: 'forwarder', destination: treasury });
    expect(mixed).toMatchObject({ network: 'polygon', destination: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' });
    expect(extended).toEqual({ ...common, network: 'ethereum', kind: 'xpub', destination: xpub });
  });

  test('refusals, and a private key is never repeated', { tags: ['thorough'] }, async () => {
    const stderr = await Promise.all([
      refused(...set, 'base', '--treasury', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
      refused(...set, 'base', '--treasury', `0x${'0'.repeat(40)}`),
      refused(...set, 'base', '--treasury', treasury.slice(0, -1)),
      refused(...set, 'base', '--xpub', xprv),
      refused(...set, 'base', '--xpub', `${xpub.slice(0, -1)}9`),
      refused(...set, 'base'),
      refused(...set, 'base', '--treasury', treasury, '--xpub', xpub),
      refused(...set, 'solana', '--treasury', treasury),
    ]);
    expect(stderr[0]).toMatch(/checksum/);
    expect(stderr[1]).toMatch(/zero/);
    expect(stderr[3]).toMatch(/private/);
    expect(stderr.join('\n')).not.toContain(xprv.slice(0, 20));
    expect(stderr[5]).toMatch(/--treasury or --xpub/);
    expect(stderr[7]).toContain('avalanche');
  });
});

test('secrets callback shows one steady secret an environment', { tags: ['thorough'] }, async () => {
  const ask = (environment: string) => json('secrets', 'callback', '--environment', environment);
  const [sandbox, again, production] = [await ask('sandbox'), await ask('sandbox'), await ask('production')];
  const accountId = (await json('accounts', 'list')).data[0].id;
  const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(sandbox).toEqual({ accountId, environment: 'sandbox', secret });
  expect(again).toEqual(sandbox);
  expect(production).toEqual({ accountId, environment: 'production', secret });
  expect(production.secret).not.toBe(sandbox.secret);
  expect((await florin('secrets', 'callback')).stdout.trim()).toBe(sandbox.secret);
});

describe('asking the program itself', () => {
  test('--help explains every command and ends well', async () => {
    const help = await florin('--help');
    expect(help.code).toBe(0);
    for (const command of ['start', 'accounts', 'keys', 'wallets', 'secrets']) expect(help.stdout).toContain(command);
    const [keys, start] = await Promise.all([florin('keys', 'create', '--help'), florin('start', '--help')]);
    expect([keys.code, start.code]).toEqual([0, 0]);
    for (const option of ['--scopes', '--environment', '--json', '--data-dir']) expect(keys.stdout).toContain(option);
    for (const option of ['--data-dir', '--host', '--port', '--sandbox-port']) expect(start.stdout).toContain(option);
  });

  test('an unknown option or command is refused', async () => {
    const [option, command] = await Promise.all([refused('accounts', 'list', '--colour'), refused('frobnicate')]);
    expect(option).toContain('--colour');
    expect(command).toContain('frobnicate');
  });

  test('where no server runs, a command says so and what to do', async () => {
    const stderr = await refused('accounts', 'list', '--data-dir', join(room, 'elsewhere'));
    expect(stderr).toMatch(/Florin is not running/);
    expect(stderr).toContain(join(room, 'elsewhere'));
    expect(stderr).toContain('--data-dir');
  });
});
