// Runs beside a test run and outlives it. When the run is over, even by Ctrl-C or kill -9, this ends what it left running
// below its temporary folders, and removes these. Usage: node guardian.mjs FOLDER…, with a pipe from the run as input.
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processesBelow } from './processesBelow.mjs';

const folders = process.argv.slice(2);
const patienceMs = 3_000;

const end = ({ pid, command }, isPatient) => {
  try {
    // PostgreSQL removes its shared memory on SIGQUIT, and cannot on SIGKILL.
    process.kill(pid, isPatient && /postgres/.test(command) ? 'SIGQUIT' : 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
};

// A terminal's Ctrl-C is for the tests; this process has work to do afterwards.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
for await (const _ of process.stdin);

const startedMs = performance.now();
const findLeft = () => folders.flatMap(processesBelow);
for (let left = findLeft(); left.length > 0; left = findLeft()) {
  const elapsedMs = performance.now() - startedMs;
  if (elapsedMs > 10 * patienceMs) break;
  for (const each of left) end(each, elapsedMs < patienceMs);
  await pause(100);
}
for (const each of folders) rmSync(each, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
