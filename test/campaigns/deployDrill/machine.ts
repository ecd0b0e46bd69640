import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sh = (script: string): void =>
  void execFileSync('sh', ['-ec', script], { stdio: ['ignore', 'ignore', 'inherit'] });

const tree = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const stoppableUnits = fileURLToPath(new URL('./systemctl.ts', import.meta.url));

/** Directories that the page writes to. What is written there ends with the drill. */
const written = ['etc', 'opt', 'var', 'srv', 'media', 'usr/local'];

/** Addresses of the whole world, which exist in the network of the drill only. */
export const addresses = { florin: '45.66.77.1', others: '45.66.77.2' } as const;

/**
 * Makes this process's own machine out of the real one: its changes to files stay in memory, its network is loopback, and
 * `systemctl` is a stand-in. Needs namespaces of its own, as the drill starts it.
 */
export const makeMachine = (room: string): void => {
  sh(`mount -t tmpfs -o mode=755 tmpfs ${room}
    mkdir ${room}/tree && mount --bind ${tree} ${room}/tree`);
  for (const directory of written) {
    const at = join(room, directory.replaceAll('/', '-'));
    sh(`[ -d /${directory} ] || exit 0
      mkdir ${at} ${at}/upper ${at}/work
      mount -t overlay -o lowerdir=/${directory},upperdir=${at}/upper,workdir=${at}/work overlay /${directory}`);
  }
  sh(`mkdir -p /opt/florin /media/usb && mount --bind ${room}/tree /opt/florin
    ip link set lo up
    for address in ${Object.values(addresses).join(' ')}; do ip address add $address/32 dev lo; done
    rm -f /etc/resolv.conf && echo nameserver 127.0.0.1 > /etc/resolv.conf`);
  mkdirSync('/usr/local/bin', { recursive: true });
  const programs = {
    systemctl: `exec ${process.execPath} ${stoppableUnits} "$@"`,
    'systemd-notify': '[ "$1" = --ready ] && touch "$NOTIFY_SOCKET"',
  };
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(`/usr/local/bin/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(`/usr/local/bin/${name}`, 0o755);
  }
};
