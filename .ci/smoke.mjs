import { cpSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run, start } from './processes.mjs';

const readyTimeoutMs = 120_000;
const stopTimeoutMs = 60_000;

const post = (url, { ca, key, body }) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const outgoing = request(url, { method: 'POST', ca, headers, timeout: 30_000 }, incoming => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', chunk => {
        text += chunk;
      });
      incoming.once('end', () => resolve({ status: incoming.statusCode, text }));
    });
    outgoing.once('error', reject);
    outgoing.end(JSON.stringify(body));
  });

const waitUntilReady = async florin => {
  const deadlineMs = performance.now() + readyTimeoutMs;
  let ended = false;
  florin.exited.then(() => {
    ended = true;
  });
  while (!florin.output().includes('Florin is ready')) {
    if (ended || performance.now() > deadlineMs) throw new Error(`Florin did not start:\n${florin.output()}`);
    await pause(100);
  }
};

/** The first sandbox payment, at once: whoever is told that Florin is ready may create one. */
const firstPayment = async (florin, dataDir) => {
  const url = /sandbox\s+(https:\S+)/.exec(florin.output())[1];
  const key = /^sandbox_key (\S+)$/m.exec(readFileSync(join(dataDir, 'first-run'), 'utf8'))[1];
  const ca = readFileSync(join(dataDir, 'tls', 'ca.pem'));
  const body = { amount: '25.00', currency: 'USDC', network: 'base' };
  const answer = await post(`${url}/v1/payments`, { ca, key, body });
  return answer.status === 200 ? [] : [`the first payment was answered with ${answer.status}: ${answer.text}`];
};

/** What somebody who only runs Florin installs: no scripts, no development packages, and the machine's own Node. */
export const trySmallInstall = async (root, room) => {
  const home = mkdtempSync(join(room, 'small-'));
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'bin', 'src', 'web']) {
    cpSync(join(root, name), join(home, name), { recursive: true });
  }
  mkdirSync(join(home, 'contracts'));
  cpSync(join(root, 'contracts', 'artefacts'), join(home, 'contracts', 'artefacts'), { recursive: true });
  const options = { cwd: home, room };
  const installed = await run('npm', ['ci', '--omit=dev', '--ignore-scripts'], options);
  if (installed.code !== 0) return [`npm ci --omit=dev --ignore-scripts ended with ${installed.code}`];

  const dataDir = join(home, 'data');
  const args = ['bin/florin.js', 'start', '--port', '0', '--sandbox-port', '0', '--data-dir', dataDir];
  const florin = start(process.execPath, args, options);
  const problems = [];
  try {
    await waitUntilReady(florin);
    problems.push(...(await firstPayment(florin, dataDir)));
  } finally {
    florin.kill('SIGTERM');
    const deadline = pause(stopTimeoutMs, undefined, { ref: false }).then(() => florin.kill('SIGKILL'));
    await Promise.race([florin.exited, deadline]);
  }
  const { code, signal } = await florin.exited;
  if (code !== 0) problems.push(`Florin ended with ${signal ?? code} after SIGTERM:\n${florin.output()}`);
  return problems;
};
