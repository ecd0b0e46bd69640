import { spawn } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, makeRoom } from './cliProcess.ts';

const script = fileURLToPath(new URL('../../recovery/built/sweep.mjs', import.meta.url));
const viem = fileURLToPath(new URL('../../node_modules/viem', import.meta.url));

export const passphrase = 'a quiet river at noon';
/** The second account of the chains of the tests. It is not the treasury's. */
const payingKey = `0x${'2'.padStart(64, '0')}`;

export type SweepRoom = {
  /** A path in the room. */
  path(name: string): string;
  sweep(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
};

/** A directory with the one script of the recovery and viem, and nothing of Florin. */
export const makeSweepRoom = async (): Promise<SweepRoom> => {
  const room = await makeRoom();
  await cp(script, join(room, 'sweep.mjs'));
  await mkdir(join(room, 'node_modules'));
  await symlink(viem, join(room, 'node_modules', 'viem'));
  return {
    path: name => join(room, name),
    async sweep(args, env = {}) {
      const secrets = { FLORIN_RECOVERY_PASSPHRASE: passphrase, RECOVERY_PRIVATE_KEY: payingKey };
      const child = spawn(process.execPath, ['sweep.mjs', ...args], {
        cwd: room,
        env: { PATH: process.env.PATH, ...secrets, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const texts = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          texts[name] += text;
        });
      }
      const code = await new Promise<number | null>(resolve => child.once('close', resolve));
      return { code, ...texts };
    },
  };
};
