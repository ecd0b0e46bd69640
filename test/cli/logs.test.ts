import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/cli/config.ts';
import { createLog } from '../../src/cli/log.ts';
import { logText } from '../../src/cli/logText.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { until } from '../support/until.ts';

const room = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'florin-logs-'));
  atEndOfFile(() => rm(path, { recursive: true, force: true }));
  return path;
};

const openLogs = (path: string, { maxBytes = 10_000, files = 3, days = 30 } = {}) =>
  createLog({ logLevel: 'info', logFile: { path, maxBytes, files, days } });

const linesOf = async (path: string): Promise<{ n: number; msg: string }[]> =>
  (await readFile(path, 'utf8'))
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

describe('a log file', () => {
  test('is renamed when it is full, and no line is lost or cut', async () => {
    const folder = await room();
    const path = join(folder, 'logs', 'florin.log');
    const { log, flush } = openLogs(path, { files: 50 });
    const total = 4_000;
    for (let n = 0; n < total; n++) {
      log.info({ n }, 'a line');
      // So that it is written in many parts.
      if (n % 50 === 0) await new Promise(resolve => setImmediate(resolve));
    }
    await flush();
    const allLines = async () => {
      const names = await readdir(join(folder, 'logs'));
      // A file may be renamed meanwhile.
      return (await Promise.all(names.map(name => linesOf(join(folder, 'logs', name)).catch(() => [])))).flat();
    };
    // A slow disk: the end of a process waits for a second at most.
    const lines = await until(allLines, all => all.length >= total);
    expect((await readdir(join(folder, 'logs'))).length).toBeGreaterThan(3);
    expect(lines.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, n) => n));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('is one of few: the oldest is removed', async () => {
    const folder = await room();
    const { log, flush } = openLogs(join(folder, 'florin.log'), { maxBytes: 1_000, files: 2 });
    let n = 0;
    await until(
      async () => {
        log.info({ n: n++, filling: 'x'.repeat(9_000) }, 'a line');
        await flush();
        return readdir(folder);
      },
      names => n > 20 && names.length >= 3,
    );
    expect((await readdir(folder)).sort()).toEqual(['florin.log', 'florin.log.1', 'florin.log.2']);
  });

  test('keeps no line longer than it may', async () => {
    const folder = await room();
    const path = join(folder, 'florin.log');
    const said = async (days: number, word: string): Promise<string[]> => {
      const { log, flush } = openLogs(path, { days });
      log.info({ word }, 'a line');
      await flush();
      return (await readdir(folder)).sort();
    };
    await said(30, 'first');
    for (const [name, days] of [
      ['florin.log.1', 14],
      ['florin.log.2', 16],
      ['florin.log.9', 16],
      ['florin.log.old', 99],
    ] as const) {
      await writeFile(join(folder, name), 'a line\n');
      const then = new Date(Date.now() - days * 86_400_000);
      await utimes(join(folder, name), then, then);
    }
    expect(await said(30, 'second')).toEqual(['florin.log', 'florin.log.1', 'florin.log.old']);
    expect((await linesOf(path)).length).toBe(2);
    expect(await said(0, 'third')).toEqual(['florin.log', 'florin.log.old']);
    expect((await readFile(path, 'utf8')).match(/first|second|third/g)).toEqual(['third']);
  });

  test('is continued by the next start', async () => {
    const path = join(await room(), 'florin.log');
    for (const n of [1, 2]) {
      const { log, flush } = openLogs(path);
      log.info({ n }, 'a line');
      await flush();
    }
    expect((await linesOf(path)).map(({ n }) => n)).toEqual([1, 2]);
  });

  test('that cannot be written stops the start, with the reason', async () => {
    const folder = await room();
    expect(() => openLogs(folder)).toThrow(ConfigError);
    expect(() => openLogs(folder)).toThrow(`FLORIN_LOG_FILE: ${folder} cannot be written (EISDIR)`);
  });
});

describe('a process with a log file', () => {
  const source = (path: string, rest: string): string => `
    import { openLogFile } from ${JSON.stringify(new URL('../../src/cli/logFile.ts', import.meta.url).href)};
    const file = openLogFile({ path: ${JSON.stringify(path)}, maxBytes: 1e9, files: 3, days: 30 });
    ${rest}`;
  const run = (text: string) =>
    spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', text], { encoding: 'utf8' });

  test.each(['process.exit(3)', 'throw new Error("unexpected")'])('writes its last lines at %s', async end => {
    const path = join(await room(), 'florin.log');
    const { status } = run(source(path, `file.write('{"n":1}\\n'); file.write('{"n":2}\\n'); ${end};`));
    expect(status).toBeGreaterThan(0);
    expect((await linesOf(path)).map(({ n }) => n)).toEqual([1, 2]);
  });

  test('says how many lines it dropped while the file could not be written', async () => {
    const folder = await room();
    const path = join(folder, 'florin.log');
    const big = `'x'.repeat(1024 * 1024) + '\\n'`;
    const { status } = run(
      source(
        path,
        `import { mkdirSync, rmSync, rmdirSync } from 'node:fs';
        rmSync(${JSON.stringify(path)});
        mkdirSync(${JSON.stringify(path)});
        for (let n = 0; n < 20; n++) { file.write(${big}); await file.flush(); }
        rmdirSync(${JSON.stringify(path)});
        file.write('y\\n');
        await file.flush();`,
      ),
    );
    expect(status).toBe(0);
    const last = (await readFile(path, 'utf8')).trimEnd().split('\n').at(-1)!;
    expect(JSON.parse(last)).toMatchObject({ msg: 'log lines were dropped', lines: 5 });
  });
});

describe('a line on a terminal', () => {
  const line = { level: 30, time: '2026-01-02T03:04:05.678Z', msg: 'request' };
  const shown = (more: object, hasColours = false): string => logText(JSON.stringify({ ...line, ...more }), hasColours);

  test('has the time, the level, the message and the fields', () => {
    expect(shown({ route: '/v1/payments', status: 200, note: 'two words' })).toBe(
      '03:04:05.678 INFO  request  route=/v1/payments  status=200  note="two words"\n',
    );
  });

  test('has the message of an error, and its stack below', () => {
    const err = { type: 'Error', message: 'it broke', stack: 'Error: it broke\n    at here' };
    expect(shown({ level: 50, err })).toBe(
      '03:04:05.678 ERROR request  err="it broke"\n    Error: it broke\n        at here\n',
    );
  });

  test('is coloured by level where that is wanted', () => {
    expect(shown({ level: 40 }, true)).toContain('\u001b[33mWARN \u001b[39m');
    expect(shown({ level: 40 })).not.toContain('\u001b');
  });

  test('cannot move the cursor or look like two lines', () => {
    const text = shown({ name: 'a\u001b[2J\nb\u009b1A\u2028c', msg: 'request' });
    expect(text.slice(0, -1)).toMatch(/^[ -~]+$/);
  });
});
