#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it. Florin runs on Node 24, from 24.7 on, which hashes passwords: an older Node
// hands over to the one that npm installed beside us.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const wanted = '24.7';
const isEnough = () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
};

const bundledNode = () => {
  try {
    const folder = dirname(
      createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`),
    );
    const path = join(folder, 'bin', 'node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
};

if (isEnough()) {
  // Half of a command's time was reading and compiling the same sources. In our own folder, because whoever could write to
  // the system's would decide what runs here; where that cannot be written to, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/florin', import.meta.url)));
  await import('../src/cli/main.ts');
} else {
  const node = bundledNode();
  if (node === null) {
    console.error(
      process.platform === 'linux'
        ? `Run npm install first: it brings the Node that Florin runs on, ${wanted} or newer (this is ${process.version}).`
        : `Florin needs Node ${wanted} or newer; this is ${process.version}. Install it from nodejs.org.`,
    );
    process.exit(1);
  }
  // Without this Node's own flags: the other one may not know them.
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}
