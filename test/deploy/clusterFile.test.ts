import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import ipaddr from 'ipaddr.js';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../src/cli/config.ts';
import { ConfigError } from '../../src/cli/config.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { environmentOf, load, read, root, type Yaml } from './deployedFile.ts';

const compose: Yaml = parseYaml(read('deploy/compose.cluster.yaml'));
const { services } = compose;
const { proxy, db1, db2, cache } = services;
const rolesOf: Record<string, string> = {
  api1: 'api',
  api2: 'api',
  watch1: 'watch',
  watch2: 'watch',
  deliver1: 'deliver',
  deliver2: 'deliver',
};
const florins = Object.keys(rolesOf);

let room: string;
let secrets: string;
const writeSecrets = () =>
  spawnSync('sh', [join(root, 'deploy/compose.secrets.sh'), '--cluster', secrets], { encoding: 'utf8' });
beforeAll(() => {
  room = mkdtempSync(join(tmpdir(), 'florin-cluster-'));
  atEndOfFile(() => rmSync(room, { recursive: true, force: true }));
  secrets = join(room, 'secrets');
  expect(writeSecrets().status).toBe(0);
});

const secret = (name: string): string => readFileSync(join(secrets, name), 'utf8');
const start = (name: string, given: Record<string, string> = {}): Promise<Config> =>
  load({ ...environmentOf(services[name]), ...given }, '/run/secrets', { folder: secrets, cwd: room });

describe('secrets', () => {
  test('those of the file are the ones that the script writes, in a folder that others cannot enter', () => {
    expect(Object.keys(compose.secrets).sort()).toEqual(readdirSync(secrets).sort());
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    for (const [name, { file }] of Object.entries<Yaml>(compose.secrets))
      expect(file).toBe(`./secrets-cluster/${name}`);
    expect(read('.gitignore').split('\n')).toContain('deploy/secrets-cluster/');
  });

  test('each service has those that it reads, and no others', () => {
    for (const [name, { secrets: given = [], environment = {}, command = [] }] of Object.entries<Yaml>(services)) {
      const text = JSON.stringify([environment, command, name.startsWith('db') ? scriptsOf(name) : '']);
      const used = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, each]) => each!);
      expect([...given].sort(), name).toEqual([...new Set(used)].sort());
    }
  });

  test('the script never replaces a master key', () => {
    const before = secret('master_key');
    expect(writeSecrets()).toMatchObject({ status: 1, stderr: expect.stringContaining('Nothing was changed') });
    expect(secret('master_key')).toBe(before);
  });
});

const mountsOf = (name: string): string[] => services[name].volumes ?? [];
const filesOf = (name: string): string[] =>
  mountsOf(name).flatMap(each => (each.startsWith('./') ? [join('deploy', each.split(':')[0]!)] : []));
const scriptsOf = (name: string): string => filesOf(name).map(read).join('\n');

describe('Florin', () => {
  test.each(florins)('the settings of %s start it', async name => {
    const config = await start(name);
    expect(config.roles).toEqual([rolesOf[name]]);
    expect(config.publicUrls).toEqual({
      production: 'https://pay.example.com',
      sandbox: 'https://sandbox.pay.example.com',
    });
    expect(config.masterKey).toBe(secret('master_key'));
    const { url, migrateUrl, readUrl } = config.database!;
    expect(url).toBe(`postgres://florin_app:${secret('database_service')}@db1,db2/florin`);
    expect(migrateUrl).toBe(`postgres://florin_owner:${secret('database_owner')}@db1,db2/florin`);
    expect(readUrl).toBe(`postgres://florin_app:${secret('database_service')}@db2/florin`);
    expect(config.redis).toMatchObject({ hosts: [{ host: 'cache' }], password: secret('redis_password') });
    expect(config.trustedProxies).toEqual([proxy.networks.front.ipv4_address]);
  });

  test('the network of the databases must be private, or the start is refused', async () => {
    expect(compose.networks.back).toEqual({ internal: true });
    for (const { networks } of [db1, db2, cache]) expect(networks).toEqual(['back']);
    await expect(start('watch1', { FLORIN_DATABASE_TLS: 'required' })).rejects.toThrow(ConfigError);
  });

  test('there is no other one, each has a data directory of its own, and all have the same image', () => {
    const others = ['db1', 'db2', 'cache', 'proxy'];
    expect(Object.keys(services).sort()).toEqual([...florins, ...others].sort());
    for (const name of florins) expect(mountsOf(name)).toEqual([`${name}:/data`]);
    expect(new Set(florins.map(name => services[name].image)).size).toBe(1);
    for (const name of [...florins, 'db1', 'db2']) expect(compose.volumes).toHaveProperty(name);
  });

  test('it has no rights', () => {
    for (const name of florins)
      expect(services[name]).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        tmpfs: ['/tmp'],
      });
  });

  test('an API process drains, for long enough that the proxy notices, and is not killed meanwhile', async () => {
    const interval = Number(/health_interval (\d+)s/.exec(read('deploy/proxy/Caddyfile.cluster'))![1]);
    for (const name of florins) {
      const { drainSeconds } = await start(name);
      if (rolesOf[name] === 'api') expect(drainSeconds).toBeGreaterThanOrEqual(4 * interval);
      else expect(drainSeconds).toBe(0);
      expect(Number.parseInt(services[name].stop_grace_period, 10)).toBeGreaterThanOrEqual(drainSeconds + 30);
    }
  });

  test('starts when both databases are there, and the second API process after the first', () => {
    for (const name of florins) {
      const { api1, ...rest } = services[name].depends_on;
      expect(rest).toEqual({
        db1: { condition: 'service_healthy' },
        db2: { condition: 'service_healthy' },
        cache: { condition: 'service_started' },
      });
      // Both would make a first account.
      expect(api1).toEqual(name === 'api2' ? { condition: 'service_healthy' } : undefined);
    }
  });
});

describe('the proxy', () => {
  test('has an address that no other service gets', () => {
    const [{ subnet, ip_range: dynamic }] = compose.networks.front.ipam.config;
    const within = (range: string) => ipaddr.parse(proxy.networks.front.ipv4_address).match(ipaddr.parseCIDR(range));
    expect(within(subnet)).toBe(true);
    expect(within(dynamic)).toBe(false);
  });

  test('sends requests to both API processes, and asks both of each environment', () => {
    const sites = read('deploy/proxy/Caddyfile.cluster').split(/^(?=\S.*\{$)/m);
    const site = (host: string) => sites.find(each => each.startsWith(`{$${host}:`))!;
    for (const [host, port] of [
      ['PAY_HOST', 8443],
      ['SANDBOX_HOST', 8444],
    ]) {
      expect(site(String(host))).toContain(`reverse_proxy api1:${port} api2:${port} {`);
      expect(site(String(host))).toContain('health_uri /readyz');
      expect(site(String(host))).toMatch(new RegExp(`Host \\{\\$${host}:`));
      expect(site(String(host))).toContain('X-Forwarded-Proto https');
    }
  });
});

test('the servers differ in their names alone', () => {
  const { environment: first, volumes: firstVolumes, ...firstRest } = db1;
  const { environment: second, volumes: secondVolumes, ...secondRest } = db2;
  expect(firstRest).toEqual(secondRest);
  expect(firstVolumes.slice(1)).toEqual(secondVolumes.slice(1));
  expect({ ...first, SERVER: 'db2', OTHER: 'db1' }).toEqual(second);
  expect(db1.user).toBe('postgres');
});

test('files that are mounted exist', () => {
  const files = Object.keys(services).flatMap(filesOf);
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
});
