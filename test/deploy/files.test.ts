import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import ipaddr from 'ipaddr.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { binaryProblems } from '../../deploy/image/binaries.ts';
import { lastStage } from '../../deploy/image/build.ts';
import { user } from '../../deploy/image/contents.ts';
import { fileVariableOf, secretVariables } from '../../src/cli/secretFiles.ts';
import { settings } from '../../src/cli/settings.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { environmentOf, load, read, root, type Yaml } from './deployedFile.ts';

const variables = new Set([
  ...Object.values(settings).map(({ variable }) => variable),
  ...secretVariables.map(fileVariableOf),
]);
const unknownIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:FLORIN_|DATABASE_URL)\w*/g)].map(([name]) => name).filter(name => !variables.has(name));

let room: string;
beforeAll(() => {
  room = mkdtempSync(join(tmpdir(), 'florin-deploy-'));
  atEndOfFile(() => rmSync(room, { recursive: true, force: true }));
});

describe('deploy/compose.yaml', () => {
  const compose: Yaml = parseYaml(read('deploy/compose.yaml'));
  const { florin, database, proxy } = compose.services;
  let secrets: string;
  const writeSecrets = () => spawnSync('sh', [join(root, 'deploy/compose.secrets.sh'), secrets], { encoding: 'utf8' });
  beforeAll(() => {
    secrets = join(room, 'secrets');
    expect(writeSecrets().status).toBe(0);
  });

  test('has the secrets that the script writes, in a folder that others cannot enter', () => {
    expect(Object.keys(compose.secrets).sort()).toEqual(readdirSync(secrets).sort());
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    for (const [name, { file }] of Object.entries<Yaml>(compose.secrets)) expect(file).toBe(`./secrets/${name}`);
    for (const { secrets: used } of [florin, database])
      for (const name of used) expect(compose.secrets).toHaveProperty(name);
  });

  test('the script never replaces a master key', () => {
    const before = readFileSync(join(secrets, 'master_key'), 'utf8');
    expect(writeSecrets()).toMatchObject({ status: 1, stderr: expect.stringContaining('Nothing was changed') });
    expect(readFileSync(join(secrets, 'master_key'), 'utf8')).toBe(before);
  });

  test('its settings start Florin, which trusts the proxy and nothing else', async () => {
    const config = await load(environmentOf(florin), '/run/secrets', { folder: secrets, cwd: room });
    expect(config.publicUrls.production).toBe('https://pay.example.com');
    expect(config.masterKey).toMatch(/^[0-9a-f]{64}$/);
    expect(new URL(config.database!.url).username).toBe('florin_app');
    expect(new URL(config.database!.migrateUrl).username).toBe('florin_owner');
    expect(config.trustedProxies).toEqual([proxy.networks.front.ipv4_address]);
  });

  test('gives no other service the address of the proxy', () => {
    const [{ subnet, ip_range: dynamic }] = compose.networks.front.ipam.config;
    const within = (range: string) => ipaddr.parse(proxy.networks.front.ipv4_address).match(ipaddr.parseCIDR(range));
    expect(within(subnet)).toBe(true);
    // Florin starts before the proxy, and would get the first free address of the network.
    expect(within(dynamic)).toBe(false);
  });

  test('mounts files that exist', () => {
    const mounted = [database, proxy, florin].flatMap(({ volumes }) => volumes as string[]);
    const files = mounted.filter(each => each.startsWith('./')).map(each => each.split(':')[0]!);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter(file => !existsSync(join(root, 'deploy', file)))).toEqual([]);
  });

  test('gives Florin no rights', () => {
    expect(florin).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });
});

describe('deploy/kubernetes/florin.yaml', () => {
  const documents: Yaml[] = read('deploy/kubernetes/florin.yaml')
    .split(/^---$/m)
    .map(text => parseYaml(text));
  const find = (kind: string, name: string): Yaml =>
    documents.find(each => each.kind === kind && each.metadata.name === name);
  const { template, serviceName } = find('StatefulSet', 'florin').spec;
  const [container] = template.spec.containers;

  test('its settings start Florin', async () => {
    const secrets = join(room, 'kubernetes');
    mkdirSync(secrets);
    const files = {
      'master-key': 'ab'.repeat(32),
      'database-url': 'postgres://app:x@db.example/florin?sslmode=verify-full',
      'migrate-database-url': 'postgres://owner:x@db.example/florin?sslmode=verify-full',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(secrets, name), text);
    const mount = container.volumeMounts.find(({ name }: Yaml) => name === 'secrets').mountPath;
    const config = await load(find('ConfigMap', 'florin-settings').data, mount, { folder: secrets, cwd: room });
    expect(config.trustedProxies).toEqual([]);
    const names = [...Object.values(config.publicUrls)].map(url => new URL(url!).host);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(probe.httpGet).toMatchObject({ scheme: 'HTTPS', port: container.ports[0].name });
      expect(names).toContain(probe.httpGet.httpHeaders[0].value);
    }
    expect(container.ports[0].containerPort).toBe(config.ports.production);
  });

  test('what it refers to is there, or is a secret', () => {
    const mounted = new Set(container.volumeMounts.map(({ name }: Yaml) => name));
    const claimed = find('StatefulSet', 'florin').spec.volumeClaimTemplates.map(({ metadata }: Yaml) => metadata.name);
    expect([...mounted].sort()).toEqual([...template.spec.volumes.map(({ name }: Yaml) => name), ...claimed].sort());
    expect(find('Service', serviceName)).toBeDefined();
    for (const { configMapRef } of container.envFrom) expect(find('ConfigMap', configMapRef.name)).toBeDefined();
  });

  test('gives Florin no rights, and leaves the modes of its files alone', () => {
    const { securityContext } = template.spec;
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user.uid });
    expect(securityContext.fsGroupChangePolicy).toBe('OnRootMismatch');
    expect(template.spec.enableServiceLinks).toBe(false);
  });
});

describe('deploy/systemd/florin.service', () => {
  const valuesOf = (name: string): string[] =>
    [...read('deploy/systemd/florin.service').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);

  // The first line decides that others are refused. Each of the next ones adds to the list or takes from it.
  test('lets a backup lower its priority, and nothing else alter resources', () => {
    expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources', 'setpriority']);
  });
});

test.each([
  'deploy/Dockerfile',
  'deploy/compose.yaml',
  'deploy/compose.cluster.yaml',
  'deploy/kubernetes/florin.yaml',
  'deploy/proxy/nginx.conf',
  'deploy/systemd/florin.service',
  'deploy/image/healthCheck.mjs',
])('%s names settings that exist', path => {
  const ofCompose = ['FLORIN_IMAGE', 'FLORIN_ADDRESS'];
  expect(unknownIn(read(path)).filter(name => !ofCompose.includes(name))).toEqual([]);
});

describe('deploy/Dockerfile', () => {
  const text = read('deploy/Dockerfile');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) => paths!.split(' '));

  test('copies what package.json lists, and nothing that is not there', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const covers = (file: string) => copied.some(path => file === path || file.startsWith(`${path}/`));
    expect(files.filter(file => !covers(file))).toEqual([]);
    expect(copied.filter(path => !existsSync(join(root, path)))).toEqual([]);
  });

  test('ends in a stage of the assembled files alone, as the user that they name', () => {
    expect(lastStage()).toMatch(/^FROM scratch\nCOPY --from=build \/image\/root\/ \/\n/);
    expect(lastStage()).toContain(`USER ${user.uid}:${user.gid}\n`);
    expect(lastStage()).not.toMatch(/^(?:RUN|ADD|ARG) /m);
  });
});

describe('the check of machine code', () => {
  const elf = (machine: number): Buffer => {
    const head = Buffer.alloc(64);
    head.write('\x7fELF', 'latin1');
    head.writeUInt16LE(machine, 18);
    return head;
  };
  const x64 = 62;
  const arm64 = 183;

  test('finds what is for another platform', () => {
    const folder = mkdtempSync(join(room, 'code-'));
    writeFileSync(join(folder, 'mine.so'), elf(x64));
    writeFileSync(join(folder, 'other.so'), elf(arm64));
    writeFileSync(join(folder, 'apple.node'), Buffer.from('cffaedfe0c00000100000000000000000000000000000000', 'hex'));
    expect(binaryProblems(folder, 'x64').sort()).toEqual([
      'apple.node is for another platform',
      'other.so is for another platform',
    ]);
  });

  test.runIf(process.platform === 'linux')('finds a library that is missing', () => {
    const folder = mkdtempSync(join(room, 'library-'));
    writeFileSync(join(folder, 'node'), readFileSync(process.execPath));
    const problems = binaryProblems(folder, process.arch as 'x64' | 'arm64');
    expect(problems).toContain('node needs libc.so.6, which is not there');
  });
});

describe('the health check', () => {
  const script = join(root, 'deploy/image/healthCheck.mjs');
  const check = (env: Record<string, string>) => spawnSync(process.execPath, [script], { env, encoding: 'utf8' });

  test('passes where nothing listens by design', () => {
    expect(check({ FLORIN_ROLES: 'watch, deliver' })).toMatchObject({ status: 0, stdout: 'does not listen\n' });
  });

  test('fails where nothing listens although it should', () => {
    expect(check({ FLORIN_HOST: '127.0.0.1', FLORIN_PORT: '1' })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
