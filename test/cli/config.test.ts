import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Config, ConfigError, type Flags, loadConfig } from '../../src/cli/config.ts';
import { settings } from '../../src/cli/settings.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'florin-config-'));
});

type Given = { env?: Record<string, string>; flags?: Flags; file?: { name?: string; content: unknown } };

const load = async ({ env = {}, flags = {}, file }: Given = {}): Promise<Config> => {
  const cwd = await mkdtemp(join(root, 'start-'));
  if (file !== undefined) {
    const text = typeof file.content === 'string' ? file.content : JSON.stringify(file.content);
    await writeFile(join(cwd, file.name ?? 'florin.config.json'), text);
  }
  return loadConfig({ flags, env, cwd });
};

const problemsOf = async (given: Given): Promise<readonly string[]> => {
  const outcome = await load(given).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ConfigError);
  return (outcome as ConfigError).problems;
};

const recipient = 'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj';
const publicUrls = {
  FLORIN_PUBLIC_URL: 'https://pay.example.com',
  FLORIN_SANDBOX_PUBLIC_URL: 'https://sandbox.example.com',
};
const tls = { FLORIN_TLS_CERT: 'cert.pem', FLORIN_TLS_KEY: '/etc/key.pem' };
const networks = (production: object) => ({ content: { networks: { production } } });

describe('defaults and sources', () => {
  test('starts with nothing said', async () => {
    const cwd = await mkdtemp(join(root, 'start-'));
    expect(await loadConfig({ flags: {}, env: {}, cwd })).toEqual({
      dataDir: join(cwd, 'data'),
      hosts: ['127.0.0.1', '::1'],
      ports: { production: 8443, sandbox: 8444 },
      publicUrls: { production: null, sandbox: null },
      checkoutUrl: null,
      dashboard: { url: null, port: null, mayAddAccounts: false },
      trustedProxies: [],
      connectionsPerAddress: 256,
      drainSeconds: 0,
      database: null,
      redis: null,
      masterKey: null,
      nextMasterKey: null,
      recoveryPassphrase: null,
      backupRecipients: [],
      backups: null,
      roles: ['api', 'watch', 'deliver'],
      processes: null,
      metrics: null,
      retention: { deliveryLogDays: 30, deliveryBodyDays: 30, idempotencyHours: 24 },
      alertUrl: null,
      mail: null,
      tls: null,
      logFile: null,
      isAwaited: false,
      logLevel: 'info',
      allowLoopbackWebhooks: true,
      networks: { production: {}, sandbox: {} },
    });
  });

  test('prefers a flag to a variable and takes an empty variable for none', async () => {
    const env = { FLORIN_PORT: '1', FLORIN_SANDBOX_PORT: '2', FLORIN_HOST: '', FLORIN_PUBLIC_URL: '' };
    const config = await load({ env, flags: { port: '0', dataDir: '/var/florin' } });
    expect(config).toMatchObject({ ports: { production: 0, sandbox: 2 }, hosts: ['127.0.0.1', '::1'] });
    expect(config.dataDir).toBe('/var/florin');
  });

  test('reads every setting', async () => {
    const key = Buffer.alloc(32, 7);
    const env = {
      ...publicUrls,
      ...tls,
      FLORIN_HOST: '0.0.0.0, ::',
      FLORIN_CHECKOUT_URL: 'https://pay.example.com/checkout/',
      FLORIN_TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1, fd00::/8',
      DATABASE_URL: 'postgres://app:s3cret@db/florin?sslmode=verify-full',
      FLORIN_MIGRATE_DATABASE_URL: 'postgresql://owner:s3cret@db/florin?sslmode=verify-full',
      FLORIN_MASTER_KEY: key.toString('base64'),
      FLORIN_NEXT_MASTER_KEY: `${'ab'.repeat(32)}.${'cd'.repeat(32)}`,
      FLORIN_ROLES: 'deliver,api',
      FLORIN_PROCESSES: '4',
      FLORIN_CONNECTIONS_PER_ADDRESS: '1000',
      FLORIN_DRAIN_SECONDS: '20',
      FLORIN_DELIVERY_LOG_DAYS: '7',
      FLORIN_DELIVERY_BODY_DAYS: '3',
      FLORIN_IDEMPOTENCY_HOURS: '72',
      FLORIN_SMTP_URL: 'smtps://me:s3cret@mail.example',
      FLORIN_MAIL_FROM: 'Shop <florin@shop.example>',
      FLORIN_ALERT_URL: 'http://10.0.0.7:8080/florin?token=1',
      FLORIN_LOG_LEVEL: 'warn',
      NOTIFY_SOCKET: '/run/systemd/notify',
    };
    const config = await load({ env });
    expect(config).toMatchObject({
      hosts: ['0.0.0.0', '::'],
      publicUrls: { production: 'https://pay.example.com', sandbox: 'https://sandbox.example.com' },
      checkoutUrl: 'https://pay.example.com/checkout',
      trustedProxies: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
      connectionsPerAddress: 1000,
      drainSeconds: 20,
      database: { url: env.DATABASE_URL, migrateUrl: env.FLORIN_MIGRATE_DATABASE_URL },
      masterKey: env.FLORIN_MASTER_KEY,
      nextMasterKey: env.FLORIN_NEXT_MASTER_KEY,
      roles: ['api', 'deliver'],
      processes: 4,
      retention: { deliveryLogDays: 7, deliveryBodyDays: 3, idempotencyHours: 72 },
      alertUrl: env.FLORIN_ALERT_URL,
      mail: {
        server: { host: 'mail.example', port: 465, security: 'tls', user: { name: 'me', password: 's3cret' } },
        from: { name: 'Shop', address: 'florin@shop.example' },
      },
      tls: { certFile: expect.stringMatching(/^\/.*\/cert\.pem$/), keyFile: '/etc/key.pem' },
      isAwaited: true,
      logLevel: 'warn',
      allowLoopbackWebhooks: false,
    });
  });

  test('reads a master key in every form that the key file may have', async () => {
    const key = Buffer.alloc(32, 0xfe);
    for (const text of [
      key.toString('hex').toUpperCase(),
      key.toString('base64url'),
      Buffer.alloc(48, 1).toString('hex'),
    ])
      expect((await load({ env: { FLORIN_MASTER_KEY: text } })).masterKey).toBe(text);
  });

  test('allows webhooks to loopback exactly when every public URL is there', async () => {
    const at = async (env: Record<string, string>) => (await load({ env: { ...env, ...tls } })).allowLoopbackWebhooks;
    const [production, sandbox] = ['FLORIN_PUBLIC_URL', 'FLORIN_SANDBOX_PUBLIC_URL'] as const;
    expect(await at({ [sandbox]: 'https://localhost:9000', [production]: 'https://127.0.0.2' })).toBe(true);
    expect(await at({ [sandbox]: 'https://[::1]:9000', FLORIN_CHECKOUT_URL: 'https://localhost/c' })).toBe(true);
    expect(await at({ [sandbox]: 'https://localhost.example.com' })).toBe(false);
    const elsewhere = 'https://pay.example.com';
    for (const name of [production, 'FLORIN_CHECKOUT_URL', 'FLORIN_DASHBOARD_URL']) {
      expect(await at({ [name]: elsewhere }), name).toBe(false);
      expect(await at({ [name]: elsewhere, [sandbox]: 'https://localhost:9000' }), name).toBe(false);
    }
  });

  test('is frozen to the bottom', async () => {
    const config = await load({ file: networks({ base: { rpcUrls: ['https://rpc.example'] } }) });
    const check = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(check);
    };
    check(config);
  });
});

describe('single settings that are wrong', () => {
  test.each([
    ['FLORIN_PORT', '65536'],
    ['FLORIN_PORT', '-1'],
    ['FLORIN_PORT', '8443x'],
    ['FLORIN_PORT', '1e3'],
    ['FLORIN_SANDBOX_PORT', ' 1'],
    ['FLORIN_HOST', 'example.com'],
    ['FLORIN_HOST', '127.0.0.1,'],
    ['FLORIN_PUBLIC_URL', 'http://localhost'],
    ['FLORIN_PUBLIC_URL', 'localhost'],
    ['FLORIN_PUBLIC_URL', 'https://localhost/v1'],
    ['FLORIN_SANDBOX_PUBLIC_URL', 'https://u:p@localhost'],
    ['FLORIN_CHECKOUT_URL', 'http://localhost/c'],
    ['FLORIN_CHECKOUT_URL', 'https://localhost/c?x=1'],
    ['FLORIN_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['FLORIN_TRUSTED_PROXIES', '0.0.0.0/0'],
    ['FLORIN_TRUSTED_PROXIES', 'proxy.example'],
    ['FLORIN_CONNECTIONS_PER_ADDRESS', '0'],
    ['FLORIN_CONNECTIONS_PER_ADDRESS', '10001'],
    ['FLORIN_DRAIN_SECONDS', '301'],
    ['DATABASE_URL', 'mysql://db/x'],
    ['DATABASE_URL', 'db'],
    ['FLORIN_DATABASE_TLS', 'no'],
    ['FLORIN_MASTER_KEY', 'short'],
    ['FLORIN_MASTER_KEY', 'a'.repeat(63)],
    ['FLORIN_ROLES', 'all,api'],
    ['FLORIN_ROLES', 'API'],
    ['FLORIN_ROLES', ','],
    ['FLORIN_PROCESSES', '0'],
    ['FLORIN_PROCESSES', '65'],
    ['FLORIN_PROCESSES', 'all'],
    ['FLORIN_DELIVERY_LOG_DAYS', '0'],
    ['FLORIN_DELIVERY_LOG_DAYS', '1.5'],
    ['FLORIN_BACKUP_HOURS', '0'],
    ['FLORIN_BACKUP_KEEP', '1001'],
    ['FLORIN_BACKUP_RECIPIENT', 'age1xyz'],
    ['FLORIN_BACKUP_RECIPIENT', `${recipient},AGE-SECRET-KEY-1X`],
    ['FLORIN_LOG_LEVEL', 'loud'],
    ['REDIS_URL', 'http://localhost'],
  ])('%s=%s', async (variable, value) => {
    const problems = await problemsOf({ env: { [variable]: value } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${variable} (must|is) `));
  });

  test('takes the cores of the machine for FLORIN_PROCESSES=auto', async () => {
    const { processes } = await load({ env: { FLORIN_PROCESSES: 'auto' } });
    expect(processes).toBe(Math.min(64, Math.max(1, availableParallelism() - 1)));
  });

  test('names the flag where the flag is at fault', async () => {
    expect(await problemsOf({ flags: { port: 'x' } })).toEqual(['--port must be a port from 0 to 65535']);
    expect(await problemsOf({ flags: { dataDir: '' } })).toEqual(['--data-dir must not be empty']);
  });

  test('refuses variables it does not know and ignores those of others', async () => {
    const env = { FLORIN_PROT: '1', FLORIN_: '', PATH: '/bin', florin_port: 'x' };
    expect(await problemsOf({ env })).toEqual([
      'FLORIN_ is not a setting of Florin',
      'FLORIN_PROT is not a setting of Florin',
    ]);
  });

  test('lists every problem in one message and repeats no secret', async () => {
    const env = {
      FLORIN_PORT: 'x',
      DATABASE_URL: 'mysql://app:s3cret@db/x',
      FLORIN_MASTER_KEY: 's3cret',
      REDIS_URL: 'redis://s3cret@cache',
      FLORIN_PUBLIC_URL: 'https://user:s3cret@localhost',
    };
    const error: ConfigError = await load({ env }).then(
      () => expect.unreachable(),
      reason => reason,
    );
    expect(error.problems).toHaveLength(5);
    for (const problem of error.problems) expect(error.message).toContain(`\n- ${problem}`);
    expect(error.message).not.toContain('s3cret');
  });
});

describe('settings that contradict each other', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['a migration URL alone', { FLORIN_MIGRATE_DATABASE_URL: 'postgres://localhost/x' }, /needs DATABASE_URL/],
    ['a standby alone', { FLORIN_READ_DATABASE_URL: 'postgres://localhost/x' }, /needs DATABASE_URL/],
    ['a certificate alone', { FLORIN_TLS_CERT: 'c.pem' }, /^FLORIN_TLS_CERT needs FLORIN_TLS_KEY$/],
    ['a key alone', { FLORIN_TLS_KEY: 'k.pem' }, /^FLORIN_TLS_KEY needs FLORIN_TLS_CERT$/],
    ['backups for nobody', { FLORIN_BACKUP_DIR: '/b' }, /^FLORIN_BACKUP_DIR needs FLORIN_BACKUP_RECIPIENT$/],
    [
      'backups of another server',
      { FLORIN_BACKUP_DIR: '/b', FLORIN_BACKUP_RECIPIENT: recipient, DATABASE_URL: 'postgres://localhost/x' },
      /^FLORIN_BACKUP_DIR is for the embedded database/,
    ],
    ['a Redis in the open', { REDIS_URL: 'redis://cache.example' }, /^REDIS_URL may lead beyond loopback without TLS/],
    [
      'a sentinel, which may name any host, in the open',
      { REDIS_URL: 'redis://localhost?sentinel=main' },
      /^REDIS_URL may lead beyond loopback without TLS/,
    ],
    ['one port for both', { FLORIN_PORT: '443', FLORIN_SANDBOX_PORT: '443' }, /share a port/],
    [
      'one port, one host',
      {
        FLORIN_PORT: '443',
        FLORIN_SANDBOX_PORT: '443',
        FLORIN_PUBLIC_URL: 'https://localhost',
        FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:444',
      },
      /share a port/,
    ],
    [
      'one address for both',
      {
        FLORIN_PUBLIC_URL: 'https://localhost:1',
        FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:1',
      },
      /must not be the same address/,
    ],
    [
      "the dashboard at production's address",
      { FLORIN_PUBLIC_URL: 'https://localhost:1', FLORIN_DASHBOARD_URL: 'https://localhost:1' },
      /^FLORIN_DASHBOARD_URL must differ from the other public URLs/,
    ],
    [
      "the dashboard on the sandbox's port",
      { FLORIN_DASHBOARD_PORT: '8444' },
      /^FLORIN_DASHBOARD_PORT must differ from the other ports/,
    ],
    [
      'a wide dashboard without a URL',
      { FLORIN_HOST: '::', ...tls, ...publicUrls, FLORIN_DASHBOARD_PORT: '8445' },
      /^FLORIN_DASHBOARD_URL is required/,
    ],
    [
      'a dashboard beyond loopback without TLS',
      { FLORIN_DASHBOARD_URL: 'https://office.example' },
      /required beyond loopback/,
    ],
    [
      'processes for no requests',
      { FLORIN_ROLES: 'watch', FLORIN_PROCESSES: '2' },
      /^FLORIN_PROCESSES needs the role api/,
    ],
    ['delivering alone', { FLORIN_ROLES: 'deliver' }, /URL are required with the role deliver and without api/],
    ['delivering and watching', { FLORIN_ROLES: 'watch,deliver' }, /URL are required with the role deliver/],
    [
      'delivering with one URL',
      { FLORIN_ROLES: 'deliver', FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:8444' },
      /^FLORIN_PUBLIC_URL and FLORIN_SANDBOX_PUBLIC_URL are required with the role deliver/,
    ],
    ['metrics on a host without a port', { FLORIN_METRICS_HOST: '127.0.0.1' }, /^FLORIN_METRICS_HOST needs/],
    ['metrics on a port of another', { FLORIN_METRICS_PORT: '8444' }, /^FLORIN_METRICS_PORT must differ/],
    ['a public URL without TLS', { FLORIN_PUBLIC_URL: 'https://pay.example.com' }, /are required beyond loopback/],
    ['a wide host without TLS', { FLORIN_HOST: '0.0.0.0', ...publicUrls }, /are required beyond loopback/],
    [
      'a wide host without a URL',
      {
        FLORIN_HOST: '::',
        ...tls,
        FLORIN_PUBLIC_URL: 'https://pay.example.com',
      },
      /^FLORIN_SANDBOX_PUBLIC_URL is required/,
    ],
  ])('%s', async (_, env, problem) => {
    const problems = await problemsOf({ env });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test('allows what only looks like it', async () => {
    const { backups } = await load({ env: { FLORIN_BACKUP_DIR: '/b', FLORIN_BACKUP_RECIPIENT: recipient } });
    expect(backups).toEqual({ directory: '/b', hours: 24, keep: 7, logSeconds: 60, recipients: [recipient] });
    await load({ env: { FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0' } });
    await load({ env: { FLORIN_PORT: '443', FLORIN_SANDBOX_PORT: '443', ...publicUrls, ...tls } });
    await load({ env: { ...publicUrls, FLORIN_TRUSTED_PROXIES: '127.0.0.1' } });
    await load({ env: { FLORIN_HOST: 'localhost' } });
    await load({ env: { FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', FLORIN_DASHBOARD_PORT: '0' } });
    const urls = { FLORIN_PUBLIC_URL: 'https://localhost:8443', FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:8444' };
    await load({ env: { FLORIN_ROLES: 'deliver', ...urls } });
    await load({ env: { FLORIN_ROLES: 'api,deliver' } });
    await load({ env: { FLORIN_METRICS_PORT: '0', FLORIN_METRICS_HOST: '0.0.0.0' } });
  });
});

test.each<[string, Record<string, string>]>([
  ['on loopback', { REDIS_URL: 'redis://localhost' }],
  ['with TLS', { REDIS_URL: 'rediss://cache.example' }],
  ['in an encrypted network', { REDIS_URL: 'redis://cache.example', FLORIN_DATABASE_TLS: 'optional' }],
])('a Redis may be %s', async (_, env) => {
  expect((await load({ env })).redis).not.toBeNull();
});

describe('a database beyond loopback', () => {
  const url = 'postgres://app:s3cret@db.example/florin';

  test.each(['DATABASE_URL', 'FLORIN_MIGRATE_DATABASE_URL', 'FLORIN_READ_DATABASE_URL'])(
    'is refused without TLS: %s',
    async variable => {
      const env = { DATABASE_URL: 'postgres://localhost/florin', [variable]: url };
      const problems = await problemsOf({ env });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(
        new RegExp(`^${variable} .* does not require TLS.* sslmode=verify-full .*FLORIN_DATABASE_TLS=optional`),
      );
      expect(problems[0]).not.toContain('s3cret');
      expect((await load({ env: { ...env, [variable]: `${url}?sslmode=verify-full` } })).database).not.toBeNull();
      expect((await load({ env: { ...env, FLORIN_DATABASE_TLS: 'optional' } })).database).not.toBeNull();
    },
  );

  test('is refused with a certificate that nobody verifies, or files that are not there', async () => {
    expect(await problemsOf({ env: { DATABASE_URL: `${url}?sslmode=no-verify` } })).toEqual([
      expect.stringMatching(/accepts any certificate.*sslmode=verify-full/),
    ]);
    const problems = await problemsOf({ env: { DATABASE_URL: `${url}?sslmode=verify-full&sslrootcert=/nowhere.pem` } });
    expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL cannot be used \(ENOENT\)/)]);
  });
});

describe('the configuration file', () => {
  const base = { rpcUrls: ['https://rpc.example/KEY'], minAmounts: { USDC: '1.00' } };
  const rule = { kind: 'depth', depth: 12 };

  test.each([
    ['florin.config.json', JSON.stringify({ networks: { sandbox: { base } } })],
    ['florin.config.js', `export default ${JSON.stringify({ networks: { sandbox: { base } } })};`],
    ['florin.config.mjs', `export default ${JSON.stringify({ networks: { sandbox: { base } } })};`],
    [
      'florin.config.ts',
      `const rpcUrls: string[] = ['https://rpc.example/KEY'];
      export default { networks: { sandbox: { base: { rpcUrls, minAmounts: { USDC: '1.00' } } } } } satisfies object;`,
    ],
  ])('may be %s', async (name, content) => {
    const { networks } = await load({ file: { name, content } });
    expect(networks).toEqual({ production: {}, sandbox: { base: { ...base, tiers: [] } } });
  });

  test('takes rules and tiers', async () => {
    const tiers = [{ currency: 'USDC', from: '10000', rule: { kind: 'finalized', depth: 64 } }];
    const config = await load({ file: networks({ polygon: { ...base, rule, tiers } }) });
    expect(config.networks.production.polygon).toEqual({ ...base, rule, tiers });
    const safe = await load({ file: networks({ base: { rule: { kind: 'safe' } } }) });
    expect(safe.networks.production.base?.rule).toEqual({ kind: 'safe', depth: null });
  });

  test.each<[string, object, RegExp]>([
    ['an unknown slug', { dogecoin: base }, /production has the unknown key "dogecoin"/],
    ['a backing for a slug', { 'ethereum-sepolia': base }, /unknown key "ethereum-sepolia"/],
    ['an unknown key', { base: { ...base, rpcUrl: 'x' } }, /production\.base has the unknown key "rpcUrl"/],
    ['a URL that is none', { base: { rpcUrls: ['rpc.example/KEY'] } }, /rpcUrls\[0\] must be an absolute/],
    ['a URL of another kind', { base: { rpcUrls: ['wss://rpc.example/KEY'] } }, /rpcUrls\[0\] must be an absolute/],
    ['a URL twice', { base: { rpcUrls: ['https://a/KEY', 'https://a/KEY'] } }, /must not repeat/],
    ['URLs not in a list', { base: { rpcUrls: 'https://a/KEY' } }, /rpcUrls must be a list/],
    ['a number for a URL', { base: { rpcUrls: [1] } }, /rpcUrls must be a list of strings/],
    ['a token the slug lacks', { base: { minAmounts: { DOGE: '1' } } }, /unknown key "DOGE"/],
    ['too fine an amount', { base: { minAmounts: { USDC: '0.0000001' } } }, /minAmounts\.USDC must be a decimal/],
    ['an amount as a number', { base: { minAmounts: { USDC: 1 } } }, /minAmounts\.USDC must be a decimal/],
    ['an unknown rule', { base: { rule: { kind: 'latest' } } }, /rule\.kind must be/],
    ['a depth of nothing', { base: { rule: { kind: 'depth' } } }, /rule\.depth must be/],
    ['a depth of zero', { base: { rule: { kind: 'depth', depth: 0 } } }, /rule\.depth must be/],
    ['a tier of no currency', { base: { tiers: [{ from: '1', rule }] } }, /tiers\[0\]\.currency must be/],
    ['a tier of no rule', { base: { tiers: [{ from: '1', currency: 'ETH' }] } }, /tiers\[0\]\.rule must be/],
    ['a network that is none', { base: null }, /production\.base must be an object/],
  ])('refuses %s', async (_, production, problem) => {
    const problems = await problemsOf({ file: networks(production) });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).toMatch(/^florin\.config\.json: /);
    expect(problems[0]).not.toContain('KEY');
  });

  test.each<[string, string, unknown, RegExp]>([
    ['broken JSON', 'florin.config.json', '{"KEY', /could not be read/],
    ['a throwing module', 'florin.config.mjs', 'throw new Error("KEY");', /could not be read/],
    ['no default export', 'florin.config.mjs', 'export const x = 1;', /the file must be an object/],
    ['a list', 'florin.config.json', [], /the file must be an object/],
    ['an unknown section', 'florin.config.json', { tokens: {} }, /unknown key "tokens"/],
    ['an unknown environment', 'florin.config.json', { networks: { staging: {} } }, /unknown key "staging"/],
    ['an environment of nothing', 'florin.config.json', { networks: { sandbox: null } }, /sandbox must be an object/],
    ['__proto__', 'florin.config.json', '{"__proto__":{"networks":{}}}', /unknown key "__proto__"/],
    ['another format', 'florin.config.yaml', 'networks: {}', /is not one of/],
  ])('refuses %s', async (_, name, content, problem) => {
    const problems = await problemsOf({ file: { name, content } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).not.toContain('KEY');
  });

  test('refuses two files', async () => {
    const cwd = await mkdtemp(join(root, 'start-'));
    for (const name of ['florin.config.json', 'florin.config.ts']) await writeFile(join(cwd, name), '{}');
    await expect(loadConfig({ env: {}, cwd })).rejects.toThrow('florin.config.json and florin.config.ts');
  });
});

test('is documented in docs/configuration.md row by row', async () => {
  const rows = Object.values(settings).map(row => {
    const flag = 'flag' in row && row.flag !== undefined ? `\`${row.flag}\`` : '';
    const fallback = row.fallback === null ? '' : `\`${row.fallback}\``;
    return `| ${flag} | \`${row.variable}\` | ${fallback} | ${row.help} |`;
  });
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const documented = page.split('\n').filter(line => line.startsWith('| '));
  expect(documented).toEqual(['| Flag | Variable | Default | Meaning |', ...rows]);
});
