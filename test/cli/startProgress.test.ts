import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { createStartProgress } from '../../src/cli/startProgress.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import type { ProgressStep } from '../../src/core/progress.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import { startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { writePayments } from '../api/listingScene.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin } from '../support/florin.ts';

const recording = () => {
  const lines: object[] = [];
  const info = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const log: Log = { ...silentLog, info };
  return { log, lines };
};

const eraseRest = '\u001b[K';

/** What a terminal with one row shows of writes that each end with the cursor at its beginning. */
const createTerminal = (columns: number) => {
  const terminal = {
    columns,
    row: '',
    written: '',
    write(text: string): void {
      terminal.written += text;
      const [row, rest] = text.split(eraseRest) as [string, string | undefined];
      expect(rest === '\r' || row === '').toBe(true);
      terminal.row = row;
    },
  };
  return terminal;
};

const step = (done: number, more: Partial<ProgressStep> = {}): ProgressStep => ({
  message: 'sealing rows',
  done,
  of: 1_000_000,
  ...more,
});

test('on a terminal, one line is written over and is gone at the end', () => {
  const terminal = createTerminal(60);
  const { log, lines } = recording();
  let nowMs = 0;
  const { progress, end } = createStartProgress(log, terminal, () => nowMs);
  progress(step(1_000));
  expect(terminal.row).toBe('sealing rows: 1,000 of 1,000,000, 0 s');
  nowMs = 61_500;
  progress(step(250_000));
  expect(terminal.row).toBe('sealing rows: 250,000 of 1,000,000, 61 s');
  progress(step(1, { message: 'applying migrations', of: 2, name: `0001_${'x'.repeat(80)}.sql` }));
  expect(terminal.row).toHaveLength(59);
  progress(step(7, { of: null }));
  expect(terminal.row).toBe('sealing rows: 7, 0 s');
  end();
  expect(terminal.row).toBe('');
  expect(terminal.written).not.toContain('\n');
  expect(lines).toEqual([]);
});

test('elsewhere the log has a line every few seconds, and none of a quick start', () => {
  const { log, lines } = recording();
  let nowMs = 0;
  const { progress, end } = createStartProgress(log, null, () => nowMs);
  for (; nowMs < 12_000; nowMs += 100) progress(step(nowMs, { name: 'a' }));
  expect(lines).toEqual([
    { message: 'sealing rows', done: 5_000, of: 1_000_000, name: 'a', seconds: 5 },
    { message: 'sealing rows', done: 10_000, of: 1_000_000, name: 'a', seconds: 10 },
  ]);
  end();
});

test('what is told after the start goes to the log', () => {
  const terminal = createTerminal(60);
  const { log, lines } = recording();
  let nowMs = 0;
  const { progress, end } = createStartProgress(log, terminal, () => nowMs);
  end();
  nowMs = 6_000;
  progress(step(1));
  expect(terminal.written).toBe('');
  expect(lines).toHaveLength(1);
});

test('migrations are counted, with their names', async () => {
  const clone = await cloneDatabase();
  const db = openTestDatabase(clone.url);
  await db.script('drop schema public cascade; create schema public');
  await db.close();
  const told: ProgressStep[] = [];
  const { applied } = await migrate(
    { connectionString: clone.url },
    { log: silentLog, progress: each => void told.push(each) },
  );
  await clone.drop();
  expect(told).toHaveLength(applied);
  expect(told[0]).toEqual({ message: 'applying migrations', done: 0, of: applied, name: '0001_foundations.sql' });
  expect(told.map(({ done }) => done)).toEqual(Array.from({ length: applied }, (_, place) => place));
});

test('rows are counted while they are sealed, up to their number', async () => {
  const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
  const createdMs = scene.admin.clock.nowMs();
  const wanted = { createdMs, status: 'pending', currency: 'USDC', network: 'base' } as const;
  await writePayments(scene, await scene.account(), Array(1_500).fill(wanted));
  const told: ProgressStep[] = [];
  const progress = (each: ProgressStep): void => void told.push(each);
  await scene.tamper('update payments set row_seal = null');
  const which = { all: false, tables: (name: string) => name === 'payments' };
  expect(await sealRows({ ...scene.admin, log: silentLog, progress }, which)).toBe(1_500);
  expect(told).toEqual([step(1_000, { of: 1_500 }), step(1_500, { of: 1_500 })]);
});

test('blocks of the local chain are counted while they are replayed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-replay-'));
  atEndOfFile(() => rm(dataDir, { recursive: true }));
  const told: ProgressStep[] = [];
  const start = () =>
    startDevChain({
      dataDir,
      log: silentLog,
      tokens: [],
      identity: randomBytes(8).toString('hex'),
      progress: each => void told.push(each),
    });
  const first = await start();
  for (let count = 0; count < 250; count++) await callRpc(first.rpcUrl, 'evm_mine', []);
  const height = Number(await callRpc(first.rpcUrl, 'eth_blockNumber', []));
  await first.stop();
  expect(told).toEqual([]);
  const second = await start();
  await second.stop();
  const message = 'replaying blocks of the local chain';
  expect(told).toEqual([0, 100, 200].map(done => ({ message, done, of: height })));
});
