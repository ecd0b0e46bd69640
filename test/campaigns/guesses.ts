import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ceilings } from '../../src/engine/access/lockOut.ts';
import { launchFlorin, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import { type Site, signIn } from './guesses/signIn.ts';

const help = `Guesses one person's password at a real Florin, from many addresses of loopback. Meanwhile the person signs in: from
a device that is known, which must always work, and from new addresses, each of which must work within a minute.
Needs Linux, where all of 127.0.0.0/8 is this machine.

  --guesses N        default 10000, at most 50000
  --addresses N      default 1000, at most 5000; each is in a /24 of its own as far as there are any
  --concurrency N    guesses under way at the same time, default 64, at most 256
  --help`;

const { values } = parseArgs({
  options: {
    guesses: { type: 'string', default: '10000' },
    addresses: { type: 'string', default: '1000' },
    concurrency: { type: 'string', default: '64' },
    help: { type: 'boolean', default: false },
  },
});

const numberOf = (name: 'guesses' | 'addresses' | 'concurrency', most: number): number => {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new Error(`--${name} must be a number from 1 to ${most}`);
};

const startTimeoutMs = 120_000;
const person = { email: 'ada@shop.example', password: 'a quiet river at noon' };
/** People sign in by hand. */
const pauseMs = 2_000;
const mostMs = 60_000;

const attackerAt = (index: number): string => `127.${10 + Math.floor(index / 250)}.${(index % 250) + 1}.7`;
const newcomerAt = (index: number): string => `127.${100 + Math.floor(index / 250)}.${(index % 250) + 1}.7`;

type Times = { readonly name: string; readonly ms: number[]; tries: number; failed: number };
const timesOf = (name: string): Times => ({ name, ms: [], tries: 0, failed: 0 });

const show = ({ name, ms, tries, failed }: Times): string => {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(2)} s`;
  return `${name}: ${ms.length} sign-ins in ${tries} tries, ${failed} failed; median ${at(0.5)}, slowest ${at(1)}`;
};

/** Signs in again and again until the guesses are over. `most` is 0 where the first try must work. */
const signInThroughout = async (
  site: Site,
  times: Times,
  most: number,
  next: (index: number) => { from: string; device: string | null },
  isOver: () => boolean,
): Promise<void> => {
  for (let index = 0; !isOver(); index++) {
    const startMs = performance.now();
    const elapsedMs = (): number => performance.now() - startMs;
    const where = next(index);
    let isIn = false;
    do {
      times.tries += 1;
      const { status, retryAfterSeconds } = await signIn(site, { ...where, body: person });
      isIn = status === 200;
      if (!isIn && most > 0) await pause(retryAfterSeconds * 1_000);
    } while (!isIn && elapsedMs() < most);
    times.ms.push(elapsedMs());
    if (!isIn || (most > 0 && elapsedMs() > most)) times.failed += 1;
    await pause(pauseMs);
  }
};

const guessAll = async (site: Site, counts: Map<number, number>): Promise<void> => {
  const [guesses, addresses] = [numberOf('guesses', 50_000), numberOf('addresses', 5_000)];
  let made = 0;
  const guessOn = async (): Promise<void> => {
    while (made < guesses) {
      const index = made++;
      const body = { email: person.email, password: `guess number ${index}` };
      const { status } = await signIn(site, { from: attackerAt(index % addresses), body });
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: numberOf('concurrency', 256) }, guessOn));
};

/** Makes the person, whose browser is known from then on. */
const setUp = async (site: Site, room: string): Promise<string> => {
  const { link } = await runFlorin(room, ['setup-link']);
  const token = String(link).split('#')[1]!;
  const body = { token, name: 'Ada', ...person };
  const { status, device } = await signIn(site, { from: '127.0.0.1', path: '/setup', body });
  if (status !== 200 || device === null) throw new Error(`the owner could not be made: ${status}`);
  return device;
};

const run = async (site: Site, room: string): Promise<boolean> => {
  const device = await setUp(site, room);
  const [known, unknown] = [timesOf('known device'), timesOf('new addresses')];
  const counts = new Map<number, number>();
  const startMs = performance.now();
  let isOver = false;
  const guessing = guessAll(site, counts).finally(() => {
    isOver = true;
  });
  await Promise.all([
    guessing,
    signInThroughout(
      site,
      known,
      0,
      () => ({ from: '127.0.0.1', device }),
      () => isOver,
    ),
    signInThroughout(
      site,
      unknown,
      mostMs,
      index => ({ from: newcomerAt(index), device: null }),
      () => isOver,
    ),
  ]);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  const judged = counts.get(401) ?? 0;
  console.log(`guesses in ${seconds} s: ${judged} judged (the budget holds ${ceilings[0]}), others refused:`);
  for (const [status, count] of [...counts].sort()) console.log(`  ${status}: ${count}`);
  console.log(show(known));
  console.log(show(unknown));
  return known.failed === 0 && unknown.failed === 0 && known.ms.length > 0 && unknown.ms.length > 0 && !counts.has(200);
};

const main = async (): Promise<number> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-guesses-'));
  const florin = launchFlorin(room, [], { env: { FLORIN_ROLES: 'api' } });
  try {
    const ready = await within(florin.ready, startTimeoutMs);
    if (!ready) throw new Error(`Florin was not ready in time:\n${florin.output()}`);
    const isRight = await run({ url: ready.productionUrl, ca: ready.ca }, room);
    console.log(isRight ? 'ok' : `FAILED\n${florin.output().slice(-4_000)}`);
    return isRight ? 0 : 1;
  } finally {
    await stopFlorin(florin, room);
    await rm(room, { recursive: true, force: true });
  }
};

if (values.help) console.log(help);
else process.exitCode = await main();
