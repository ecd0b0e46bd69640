import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createAuthority } from './deployDrill/authority.ts';
import { runDeployDrill } from './deployDrill/drill.ts';
import { createHands } from './deployDrill/hands.ts';
import { makeMachine } from './deployDrill/machine.ts';
import { readDeployingPage } from './deployDrill/page.ts';
import { openShell } from './deployDrill/shell.ts';
import { createWorld } from './deployDrill/world.ts';

const help = `Follows docs/deploying.md literally: runs its blocks in order, and does by script what a person does in a browser, at a
DNS provider and with a wallet. Each line of florin doctor --live must be red before its step and green after it.
Only the line of mail is green from the start, because mail is optional.

Needs root on Linux, with unshare, ip, setpriv, runuser, useradd, curl and openssl: it makes a machine of its own out of
this one, in namespaces. The network of that machine is loopback, what is written to its files stays in memory, a local
chain stands in for Base, and a stand-in for systemctl starts the unit. Nothing of it is left afterwards.

  --patience N  seconds to wait until a line is green, default 120
  --help`;

const { values } = parseArgs({
  options: {
    patience: { type: 'string', default: '120' },
    inside: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Starts this program again on the machine of the drill. Everything that it starts ends with it. */
const enter = (room: string): Promise<number> => {
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const program = [process.execPath, fileURLToPath(import.meta.url), '--inside', room, '--patience', values.patience];
  const ca = join(room, 'ca.pem');
  const env = { PATH: process.env.PATH, HOME: '/root', NODE_EXTRA_CA_CERTS: ca, CURL_CA_BUNDLE: ca };
  const child = spawn('unshare', [...namespaces, ...program], { stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve(code ?? 1));
  });
};

const recipient = (room: string): string => {
  const florin = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));
  const args = [florin, 'backup', 'identity', '--output', join(room, 'backup-identity')];
  return /age1\S+/.exec(execFileSync(process.execPath, args, { cwd: room, encoding: 'utf8' }))![0];
};

const onItsMachine = async (room: string): Promise<number> => {
  const startedMs = performance.now();
  const machine = join(room, 'machine');
  makeMachine(machine);
  const world = await createWorld(room);
  const page = await readDeployingPage();
  const filledIn: Record<string, string> = {
    PAY: 'pay.example.com',
    SANDBOX: 'sandbox.pay.example.com',
    NODE_1: world.nodeUrls[0],
    NODE_2: world.nodeUrls[1],
    BACKUPS: '/srv/florin-backups',
    RECIPIENT: recipient(room),
    KEY_COPY: '/media/usb/florin-master',
    ALERTS: world.alertUrl,
  };
  const missing = page.values.filter(name => filledIn[name] === undefined);
  if (missing.length > 0)
    throw new Error(`the page asks for values that the drill does not know: ${missing.join(', ')}`);
  const shell = openShell(room, filledIn);
  const hands = createHands(world, room, filledIn);
  const patienceMs = Number(values.patience) * 1_000;
  const tell = (text: string): void => console.log(text);
  const problems = await runDeployDrill({ page, shell, hands, patienceMs, tell });
  shell.end();
  await world.close();
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(
    `${page.steps.filter(({ name }) => name !== null).length} steps, ${problems.length} problems, ${seconds} s`,
  );
  return problems.length === 0 ? 0 : 1;
};

const main = async (): Promise<number> => {
  if (values.inside !== undefined) return onItsMachine(values.inside);
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    console.log('The drill needs root on Linux: see --help.');
    return 1;
  }
  const room = mkdtempSync(join(tmpdir(), 'florin-deploy-'));
  chmodSync(room, 0o755);
  try {
    execFileSync('mkdir', [join(room, 'machine')]);
    createAuthority(room);
    return await enter(room);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
};

if (values.help) console.log(help);
else process.exit(await main());
