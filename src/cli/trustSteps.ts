import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** One certificate store, and the commands that add our CA to it. */
export type TrustStep = {
  readonly store: string;
  readonly commands: readonly (readonly string[])[];
  /** A required program and its package. */
  readonly needs: { readonly program: string; readonly package: string } | null;
  /** Changes the machine for all users. */
  readonly isPrivileged: boolean;
};

/** The CA: its file and its name. The name differs per installation. */
export type Authority = { readonly path: string; readonly name: string };

export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly isRoot: boolean;
  /** Whether certificates are kept as on Debian. Other distributions keep them elsewhere. */
  readonly hasDebianStore: boolean;
};

export const debianStore = '/usr/local/share/ca-certificates';

const certutil = { program: 'certutil', package: 'libnss3-tools' } as const;

const hasDatabase = (folder: string): boolean => existsSync(join(folder, 'cert9.db'));

/** Profile folders of Firefox, for each kind of package. */
const firefoxProfiles = (home: string): string[] =>
  [join(home, '.mozilla', 'firefox'), join(home, 'snap', 'firefox', 'common', '.mozilla', 'firefox')]
    .filter(folder => existsSync(folder))
    .flatMap(folder => readdirSync(folder).map(name => join(folder, name)))
    .filter(hasDatabase);

const addTo = (folder: string, ca: Authority): string[] =>
  ['certutil', '-A', '-d', `sql:${folder}`, '-n', ca.name, '-t', 'C,,', '-i', ca.path]; // biome-ignore format: one command

const chromium = (home: string, ca: Authority): TrustStep => {
  const snap = join(home, 'snap', 'chromium', 'current', '.pki', 'nssdb');
  const folder = hasDatabase(snap) ? snap : join(home, '.pki', 'nssdb');
  const make = [
    ['mkdir', '-p', folder],
    ['certutil', '-N', '--empty-password', '-d', `sql:${folder}`],
  ];
  const commands = [...(hasDatabase(folder) ? [] : make), addTo(folder, ca)];
  return { store: 'Chrome and Chromium', commands, needs: certutil, isPrivileged: false };
};

const linuxSteps = ({ home, isRoot, hasDebianStore }: Machine, ca: Authority): TrustStep[] => {
  const sudo = isRoot ? [] : ['sudo'];
  const firefox = firefoxProfiles(home).map(folder => addTo(folder, ca));
  const system = [
    [...sudo, 'cp', ca.path, `${debianStore}/florin.crt`],
    [...sudo, 'update-ca-certificates'],
  ];
  return [
    chromium(home, ca),
    ...(firefox.length === 0
      ? []
      : [{ store: 'Firefox', commands: firefox, needs: certutil, isPrivileged: false } as const]),
    ...(hasDebianStore
      ? [{ store: 'All other programs of this machine', commands: system, needs: null, isPrivileged: true } as const]
      : []),
  ];
};

const macSteps = ({ home }: Machine, ca: Authority): TrustStep[] => {
  const keychain = join(home, 'Library', 'Keychains', 'login.keychain-db');
  const command = ['security', 'add-trusted-cert', '-r', 'trustRoot', '-k', keychain, ca.path];
  return [
    { store: 'Your keychain: Safari, Chrome and Firefox', commands: [command], needs: null, isPrivileged: false },
  ];
};

/** The steps that make this machine's browsers trust the CA. */
export const trustSteps = (machine: Machine, ca: Authority): TrustStep[] =>
  machine.platform === 'darwin' ? macSteps(machine, ca) : linuxSteps(machine, ca);
