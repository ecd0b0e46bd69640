import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

const suite = /^VERSION_CODENAME=bookworm$/m;

/** The C library must suit the machine code that npm brings, and the packages must be those that were tried. */
const refuseOtherDebian = (): void => {
  if (!suite.test(readFileSync('/etc/os-release', 'utf8'))) {
    throw new Error('The image is assembled on Debian 12 (bookworm). Elsewhere, build it with deploy/Dockerfile.');
  }
};

/**
 * Downloads packages of Debian for one architecture, whichever this machine has, and unpacks them without running their
 * scripts. The lists and the packages go to a folder of our own, so that nothing of this machine is changed.
 */
export const unpackDebian = (options: { root: string; packages: readonly string[]; architecture: string }): void => {
  refuseOtherDebian();
  const { root, packages, architecture } = options;
  const room = mkdtempSync(join(tmpdir(), 'florin-debian-'));
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial', 'packages'])
      mkdirSync(join(room, folder), { recursive: true });
    writeFileSync(join(room, 'status'), '');
    const apt = [
      ...['-qq', '-o', 'APT::Sandbox::User='],
      ...['-o', `APT::Architecture=${architecture}`, '-o', `APT::Architectures=${architecture}`],
      ...['-o', `Dir::State=${room}`, '-o', `Dir::State::status=${join(room, 'status')}`],
      ...['-o', `Dir::Cache=${join(room, 'cache')}`],
    ];
    run('apt-get', [...apt, 'update']);
    run('apt-get', [...apt, 'download', ...packages], join(room, 'packages'));
    for (const name of readdirSync(join(room, 'packages')).sort()) unpack(join(room, 'packages', name), root);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
};

const unpack = (file: string, root: string): void => {
  // Unlike dpkg-deb --extract, this follows /lib to /usr/lib where the package has /lib.
  run('sh', ['-c', 'dpkg-deb --fsys-tarfile "$0" | tar -x -C "$1" --keep-directory-symlink', file, root]);
  // Scanners look here for what is installed where there is no dpkg.
  const control = run('dpkg-deb', ['--field', file]);
  const name = /^Package: (.+)$/m.exec(control)![1]!;
  mkdirSync(join(root, 'var/lib/dpkg/status.d'), { recursive: true });
  writeFileSync(join(root, 'var/lib/dpkg/status.d', name), control);
};
