import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readNewPassphrase } from '../../src/cli/readPassphrase.ts';

const good = 'a quiet river at noon';
const terminal = () => Object.assign(new PassThrough(), { isTTY: true });

/** Types one line or key whenever the prompt waits for it. */
const typing = (...keys: string[]) => {
  const input = terminal();
  input.on('resume', () => {
    const key = keys.shift();
    if (key !== undefined) input.write(key);
  });
  return input;
};

test('a passphrase is typed twice', async () => {
  expect(await readNewPassphrase(null, typing(`${good}\r`, `${good}\r`))).toBe(good);
  await expect(readNewPassphrase(null, typing(`${good}\r`, 'another one\r'))).rejects.toThrow('differ');
});

test('Ctrl-C and Ctrl-D at either prompt end with a message', async () => {
  const message = 'No passphrase was given. Nothing was done.';
  for (const key of ['\u0003', '\u0004']) {
    await expect(readNewPassphrase(null, typing(key))).rejects.toThrow(message);
    await expect(readNewPassphrase(null, typing(`${good}\r`, key))).rejects.toThrow(message);
  }
});

test('the first line of an input that stays open is enough', async () => {
  const input = new PassThrough();
  input.write(`${good}\nmore\n`);
  expect(await readNewPassphrase(null, input)).toBe(good);
  expect(input.isPaused()).toBe(true);
});

test('it has at least twelve characters', async () => {
  expect(await readNewPassphrase('twelve chars')).toBe('twelve chars');
  await expect(readNewPassphrase('eleven char')).rejects.toThrow('at least 12 characters');
});
