// @module-tag thorough
import { beforeAll, expect, test, vi } from 'vitest';
import { type Ended, makeRoom, run, startServer } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let room: string;
beforeAll(async () => {
  room = await makeRoom();
  await startServer(room);
});

const florin = (...args: string[]): Promise<Ended> => run(args, room);
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

test('florin restored declares a restore beside the running server', async () => {
  const first = await florin('restored');
  expect(first.stdout).toContain('The restore is declared.');
  expect(first.stdout).toContain('florin unclaimed watch');
  expect(first.stderr).toMatch(/\d+ of \d+ addresses/);
  const declared = await json('restored');
  expect(declared).toMatchObject({ wasDetected: false, since: expect.stringMatching(/^\d{4}-/) });
  const since = '2026-01-02T03:04:05.000Z';
  expect(await json('restored', '--since', since)).toMatchObject({ wasDetected: false, since });
  expect((await florin('restored', '--since', 'yesterday')).code).toBe(2);
});

test('an account with a live key waits for a review, which the operator ends where nobody owns it', async () => {
  const review = ['restored', '--review'];
  await json('keys', 'create', '--environment', 'production', '--scopes', 'payments:read');
  const { id } = (await json('accounts', 'list')).data[0];
  const doctor = async () => {
    const { stdout } = await florin('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { check: string; ok: boolean; detail: string }[] };
    return findings.find(({ check }) => check === 'restore');
  };
  expect(await doctor()).toMatchObject({ ok: true, detail: 'nothing waits' });
  expect((await florin('restored')).stdout).toContain('Production of 1 account is closed');
  expect(await doctor()).toMatchObject({
    ok: false,
    detail: expect.stringContaining(`florin restored --review ${id}`),
  });
  expect((await florin(...review, id, '--since', '2026-01-02')).code).toBe(2);
  expect((await florin(...review, 'acct_unknown')).code).toBe(3);
  expect((await florin(...review, id)).stdout).toContain('Its production is open again.');
  expect((await florin(...review, id)).code).toBe(1);
  expect(await doctor()).toMatchObject({ ok: true });
});

test('florin unclaimed lists nothing before funds have come, and watches an epoch of an old log', async () => {
  expect(await json('unclaimed', 'list')).toEqual([]);
  expect((await florin('unclaimed', 'list')).stdout).toContain('There are no unclaimed funds.');
  expect((await json('unclaimed', 'watch', '1000.7')).watched).toBeGreaterThanOrEqual(10_000);
  expect((await json('unclaimed', 'watch', '1000.7')).watched, 'already watched').toBe(0);
  const future = await florin('unclaimed', 'watch', '2147483647.1');
  expect([future.code, future.stderr]).toEqual([2, expect.stringContaining('in the future')]);
  expect((await florin('unclaimed', 'watch', 'x')).code).toBe(2);
});
