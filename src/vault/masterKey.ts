import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../core/errorCode.ts';

/** A KeyObject prints and serialises without the key, so it cannot leak into a log line. */
export type MasterKey = {
  readonly secret: KeyObject;
  /** From which the salts of addresses are derived. It outlives a rotation, because addresses must. */
  readonly saltKey: KeyObject;
  /** Whether it replaced another key. Only then is its salt key part of its text. */
  readonly isRotated: boolean;
  /** Identifies the key without revealing it. The database stores it, and a start with another key is refused. */
  readonly fingerprint: string;
};

export type LoadedMasterKey = MasterKey & { readonly source: 'setting' | 'file' | 'created' };

/** The key cannot be used; the message says what to do and never contains the key. */
export class MasterKeyError extends Error {
  readonly code = 'master_key_unusable';
}

const minimumBytes = 32;

const expand = (secret: KeyObject, salt: Uint8Array | '', label: string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, `florin/v1/${label}`, length));

/** Each purpose has its own key, so that a value made for one is invalid for another. */
export const subkey = ({ secret }: Pick<MasterKey, 'secret'>, label: string): KeyObject =>
  createSecretKey(expand(secret, '', label, 32));

/** `salts`: the salt key of the key that this one replaces. */
export const masterKeyOf = (bytes: Uint8Array, salts: Uint8Array | null = null): MasterKey => {
  if (bytes.length < minimumBytes) throw new MasterKeyError('The master key must have at least 32 bytes.');
  const secret = createSecretKey(bytes);
  const saltKey = salts === null ? subkey({ secret }, 'salts') : createSecretKey(salts);
  // Another salt key would give other addresses, so the fingerprint covers it.
  const fingerprint = expand(secret, salts ?? '', 'fingerprint', 16).toString('hex');
  return { secret, saltKey, isRotated: salts !== null, fingerprint };
};

/** Names a deployment to others, for as long as its addresses stay the same. */
export const deploymentName = ({ saltKey }: MasterKey): string => expand(saltKey, '', 'deployment', 8).toString('hex');

/** With it, the subjects of rate limits are named. All processes use the same one, also while the key is being replaced. */
export const limitKeyOf = ({ saltKey }: MasterKey): KeyObject => subkey({ secret: saltKey }, 'limits');

/** The text of a new key that keeps the addresses of this one: a secret, and the salt key of the first key. */
export const nextKeyText = ({ saltKey }: MasterKey): string =>
  `${randomBytes(minimumBytes).toString('hex')}.${saltKey.export().toString('hex')}`;

/**
 * Hexadecimal, or base64 in either alphabet. Text with only hexadecimal digits is never read as base64. A key that
 * replaced another has two parts, with a dot between them.
 */
export const parseMasterKey = (text: string): MasterKey => {
  const trimmed = text.trim();
  const [, secret, salts] = /^([0-9a-f]{64,})\.([0-9a-f]{64})$/i.exec(trimmed) ?? [];
  if (secret && salts && secret.length % 2 === 0)
    return masterKeyOf(Buffer.from(secret, 'hex'), Buffer.from(salts, 'hex'));
  const isHex = /^[0-9a-fA-F]+$/.test(trimmed);
  if (isHex && trimmed.length % 2 === 0) return masterKeyOf(Buffer.from(trimmed, 'hex'));
  if (!isHex && /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'base64'));
  throw new MasterKeyError('The master key must be hexadecimal or base64, of at least 32 bytes.');
};

export const masterKeyPath = (dataDir: string): string => join(dataDir, 'keys', 'master');
/** The key that replaces the master key, once a rotation is prepared. */
export const nextKeyPath = (dataDir: string): string => `${masterKeyPath(dataDir)}.next`;

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

export const readKeyFile = async (path: string): Promise<MasterKey | null> => {
  const file = await open(path, 'r').catch(error => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) {
      throw new MasterKeyError(`${path} can be read by other users. If nobody has read it, run: chmod 600 ${path}`);
    }
    return parseMasterKey(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
};

/**
 * Writes a temporary file and links it into place once it is on disk: a crash leaves no key or a whole one, and a link,
 * unlike a rename, never replaces an existing key. Returns false when there is one.
 */
const createKeyFile = async (path: string, text: string): Promise<boolean> => {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // The directory may have existed before, with another mode.
  await chmod(directory, 0o700);
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporaryPath, 'wx', 0o600);
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporaryPath, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporaryPath, { force: true });
  }
  await syncDirectory(directory);
  await syncDirectory(dirname(directory));
  return true;
};

export type MasterKeyOptions = {
  /** The text of FLORIN_MASTER_KEY, if set. It takes precedence over the file. */
  readonly setting?: string | undefined;
  readonly dataDir: string;
};

const missingKey = (path: string): MasterKeyError =>
  new MasterKeyError(
    `There is no master key: ${path} does not exist, and FLORIN_MASTER_KEY is not set. The database was written with one. Put that key back. If a service gets it as a credential, give the command the same FLORIN_MASTER_KEY_FILE.`,
  );

/**
 * The deployment's master key, from the setting or from the data directory. Only a database that was never used with a
 * key gets a new one (`mayCreate`): beside any other it would be wrong, and somebody might copy it to a safe place.
 */
export const loadMasterKey = async ({
  setting,
  dataDir,
  mayCreate = false,
}: MasterKeyOptions & { readonly mayCreate?: boolean }): Promise<LoadedMasterKey> => {
  if (setting !== undefined) return { ...parseMasterKey(setting), source: 'setting' };
  const path = masterKeyPath(dataDir);
  const existing = await readKeyFile(path);
  if (existing !== null) return { ...existing, source: 'file' };
  if (!mayCreate) throw missingKey(path);
  const created = await createKeyFile(path, randomBytes(minimumBytes).toString('hex'));
  // Read it back, so that two processes that start at once agree on one key.
  const key = await readKeyFile(path);
  if (key === null) throw new MasterKeyError(`${path} disappeared while it was being created. Start Florin again.`);
  return { ...key, source: created ? 'created' : 'file' };
};

/** The key that a rotation goes to, if there is one here. */
export const loadNextKey = async ({ setting, dataDir }: MasterKeyOptions): Promise<LoadedMasterKey | null> => {
  if (setting !== undefined) return { ...parseMasterKey(setting), source: 'setting' };
  const key = await readKeyFile(nextKeyPath(dataDir));
  return key && { ...key, source: 'file' };
};

/** Creates the key that a rotation goes to, unless it is there. */
export const createNextKey = async (dataDir: string, current: MasterKey): Promise<LoadedMasterKey> => {
  const created = await createKeyFile(nextKeyPath(dataDir), nextKeyText(current));
  const key = await loadNextKey({ dataDir });
  if (key === null) throw new MasterKeyError(`${nextKeyPath(dataDir)} disappeared. Run the command again.`);
  return { ...key, source: created ? 'created' : 'file' };
};

const maxKeptOnOneDay = 100;

/** Keeps the former key under another name, for backups that were made with it. A copy that is there is not made again. */
const keepFormerKey = async (path: string, former: MasterKey, day: string): Promise<void> => {
  for (let count = 1; count <= maxKeptOnOneDay; count++) {
    const kept = `${path}.before-${day}${count === 1 ? '' : `-${count}`}`;
    const isThere = await link(path, kept).then(
      () => false,
      error => {
        if (codeOf(error) === 'EEXIST') return true;
        throw error;
      },
    );
    if (!isThere || (await readKeyFile(kept))?.fingerprint === former.fingerprint) return;
  }
  throw new MasterKeyError(`${dirname(path)} has too many former keys of this day.`);
};

/** Where the key with this fingerprint was kept when another replaced it; null if it is not here. */
export const findFormerKey = async (dataDir: string, fingerprint: string): Promise<string | null> => {
  const directory = dirname(masterKeyPath(dataDir));
  const names = (await readdir(directory)).filter(name => name.startsWith('master.before-'));
  for (const path of names.map(name => join(directory, name))) {
    if ((await readKeyFile(path))?.fingerprint === fingerprint) return path;
  }
  return null;
};

/**
 * Makes the next key the master key of this data directory, once the database is sealed with it. After a crash the file
 * has one key or the other. The command and a server may do this at the same time. Returns whether it did something.
 */
export const promoteNextKey = async (dataDir: string, fingerprint: string, now: Date): Promise<boolean> => {
  const path = masterKeyPath(dataDir);
  const [former, next] = [await readKeyFile(path), await readKeyFile(nextKeyPath(dataDir))];
  if (next?.fingerprint !== fingerprint || former?.fingerprint === fingerprint) return false;
  if (former) await keepFormerKey(path, former, now.toISOString().slice(0, 10));
  try {
    await rename(nextKeyPath(dataDir), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && (await readKeyFile(path))?.fingerprint === fingerprint) return false;
    throw error;
  }
  await syncDirectory(dirname(path));
  return true;
};
