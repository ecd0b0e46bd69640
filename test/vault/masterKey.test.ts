import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadMasterKey, MasterKeyError, masterKeyPath, parseMasterKey } from '../../src/vault/masterKey.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'florin-vault-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('the first start creates a key that nobody else can read, the second finds it', async () => {
  const first = await loadMasterKey({ dataDir, mayCreate: true });
  expect(first.source).toBe('created');
  expect((await stat(masterKeyPath(dataDir))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dataDir, 'keys'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(dataDir, 'keys'))).toEqual(['master']);
  const second = await loadMasterKey({ dataDir, mayCreate: true });
  expect(second.source).toBe('file');
  expect(second.fingerprint).toBe(first.fingerprint);
  expect(second.secret.equals(first.secret)).toBe(true);
});

test('where the key is missing beside a used database, none is created', async () => {
  await expect(loadMasterKey({ dataDir })).rejects.toThrow(/There is no master key: .*keys\/master/);
  expect(await readdir(dataDir)).toEqual([]);
});

test('starts at the same moment agree on one key', async () => {
  const keys = await Promise.all(Array.from({ length: 16 }, () => loadMasterKey({ dataDir, mayCreate: true })));
  expect(new Set(keys.map(key => key.fingerprint)).size).toBe(1);
  expect(keys.filter(key => key.source === 'created').length).toBe(1);
  expect(await readdir(join(dataDir, 'keys'))).toEqual(['master']);
});

test('what a crash left behind is neither used nor in the way', async () => {
  await mkdir(join(dataDir, 'keys'), { mode: 0o755 });
  await writeFile(join(dataDir, 'keys', 'master.abc.tmp'), 'half a k');
  expect((await loadMasterKey({ dataDir, mayCreate: true })).source).toBe('created');
  expect((await stat(join(dataDir, 'keys'))).mode & 0o777).toBe(0o700);
});

test('a damaged or exposed file is refused and left as it is', async () => {
  await mkdir(join(dataDir, 'keys'));
  for (const content of ['', 'abcd', 'not a key!']) {
    await writeFile(masterKeyPath(dataDir), content, { mode: 0o600 });
    await expect(loadMasterKey({ dataDir, mayCreate: true })).rejects.toThrow(MasterKeyError);
    expect(await readFile(masterKeyPath(dataDir), 'utf8')).toBe(content);
  }
  await writeFile(masterKeyPath(dataDir), randomBytes(32).toString('hex'));
  await chmod(masterKeyPath(dataDir), 0o644);
  await expect(loadMasterKey({ dataDir, mayCreate: true })).rejects.toThrow(/chmod 600/);
});

test('a setting wins, in hexadecimal or base64, and writes no file', async () => {
  const bytes = randomBytes(32);
  const forms = [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
  for (const setting of forms) {
    const key = await loadMasterKey({ setting, dataDir, mayCreate: true });
    expect(key.source).toBe('setting');
    expect(key.secret.export()).toEqual(bytes);
  }
  expect(await readdir(dataDir)).toEqual([]);
});

test('a short or malformed setting is refused without repeating it', () => {
  for (const text of [
    '',
    'ab'.repeat(31),
    randomBytes(31).toString('base64'),
    'correct horse battery staple, and then some more',
  ]) {
    expect(() => parseMasterKey(text)).toThrow(MasterKeyError);
  }
  expect(() => parseMasterKey('correct horse battery staple')).toThrow(/^The master key must be [^:]*$/);
});

test('a key prints as nothing', () => {
  const bytes = randomBytes(32);
  const key = parseMasterKey(bytes.toString('hex'));
  for (const printed of [inspect(key, { depth: 9 }), JSON.stringify(key)]) {
    expect(printed).not.toContain(bytes.toString('hex').slice(0, 8));
  }
  expect(key.fingerprint).toMatch(/^[0-9a-f]{32}$/);
});
