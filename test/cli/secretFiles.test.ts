import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../src/cli/config.ts';
import { fileVariableOf, secretVariables } from '../../src/cli/secretFiles.ts';

const key = 'ab'.repeat(32);
let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'florin-secrets-'));
});

const fileOf = async (name: string, text: string): Promise<string> => {
  const path = join(cwd, name);
  await writeFile(path, text);
  return path;
};

const problemsOf = async (env: Record<string, string>): Promise<readonly string[]> => {
  const outcome = await loadConfig({ env, cwd }).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ConfigError);
  return (outcome as ConfigError).problems;
};

test('a secret is read from a file, without the line break at its end', async () => {
  const env = {
    FLORIN_MASTER_KEY_FILE: await fileOf('key', `${key}\n`),
    DATABASE_URL_FILE: await fileOf('url', 'postgres://florin:secret@localhost/florin\r\n'),
  };
  const { masterKey, database } = await loadConfig({ env, cwd });
  expect(masterKey).toBe(key);
  expect(database?.url).toBe('postgres://florin:secret@localhost/florin');
});

test('an empty variable names no file', async () => {
  expect((await loadConfig({ env: { FLORIN_MASTER_KEY_FILE: '' }, cwd })).masterKey).toBeNull();
});

test('a secret that is not valid is refused by its name, and is not quoted', async () => {
  const env = { FLORIN_MASTER_KEY_FILE: await fileOf('short', 'abcd') };
  const problems = await problemsOf(env);
  expect(problems).toEqual([expect.stringMatching(/^FLORIN_MASTER_KEY /)]);
  expect(problems[0]).not.toContain('abcd');
});

test('a file that cannot be used stops the start', async () => {
  const missing = join(cwd, 'missing');
  expect(await problemsOf({ FLORIN_SMTP_URL_FILE: missing })).toEqual([
    'FLORIN_SMTP_URL_FILE names a file that cannot be read (ENOENT)',
  ]);
  expect(await problemsOf({ FLORIN_MASTER_KEY_FILE: await fileOf('empty', '\n') })).toEqual([
    'FLORIN_MASTER_KEY_FILE names an empty file',
  ]);
});

test('a secret that is given twice is refused', async () => {
  const env = { FLORIN_MASTER_KEY: key, FLORIN_MASTER_KEY_FILE: await fileOf('twice', key) };
  expect(await problemsOf(env)).toEqual(['FLORIN_MASTER_KEY and FLORIN_MASTER_KEY_FILE are both set: unset one']);
});

test('a file can hold secrets only', async () => {
  expect(await problemsOf({ FLORIN_PORT_FILE: await fileOf('port', '8443') })).toEqual([
    'FLORIN_PORT_FILE is not a setting of Florin',
  ]);
});

test('docs/configuration.md lists the secrets', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  const section = /^## Secrets in files$(.*?)^## /ms.exec(page)![1]!;
  const listed = [...section.matchAll(/^- `(\w+)`$/gm)].map(([, name]) => name);
  expect(listed).toEqual(secretVariables.map(fileVariableOf));
});
