import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../core/errorCode.ts';

/** A KeyObject prints and serialises without the key, so it cannot leak into a log line. */
export type MasterKey = {
  readonly secret: KeyObject;
  /** Identifies the key without revealing it. The database stores it, and a start with another key is refused. */
  readonly fingerprint: string;
};

export type LoadedMasterKey = MasterKey & { readonly source: 'setting' | 'file' | 'created' };

/** The key cannot be used; the message says what to do and never contains the key. */
export class MasterKeyError extends Error {
  readonly code = 'master_key_unusable';
}

const minimumBytes = 32;

export const masterKeyOf = (bytes: Uint8Array): MasterKey => {
  if (bytes.length < minimumBytes) throw new MasterKeyError('The master key must have at least 32 bytes.');
  const secret = createSecretKey(bytes);
  const fingerprint = Buffer.from(hkdfSync('sha256', secret, '', 'florin/v1/fingerprint', 16)).toString('hex');
  return { secret, fingerprint };
};

/** Hexadecimal, or base64 in either alphabet. Text with only hexadecimal digits is never read as base64. */
export const parseMasterKey = (text: string): MasterKey => {
  const trimmed = text.trim();
  const isHex = /^[0-9a-fA-F]+$/.test(trimmed);
  if (isHex && trimmed.length % 2 === 0) return masterKeyOf(Buffer.from(trimmed, 'hex'));
  if (!isHex && /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'base64'));
  throw new MasterKeyError('The master key must be hexadecimal or base64, of at least 32 bytes.');
};

export const masterKeyPath = (dataDir: string): string => join(dataDir, 'keys', 'master');

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

const readKeyFile = async (path: string): Promise<MasterKey | null> => {
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
const createKeyFile = async (path: string): Promise<boolean> => {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // The directory may have existed before, with another mode.
  await chmod(directory, 0o700);
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporaryPath, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(minimumBytes).toString('hex')}\n`);
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

/** The deployment's master key, from the setting or from the data directory, where the first start creates it. */
export const loadMasterKey = async ({ setting, dataDir }: MasterKeyOptions): Promise<LoadedMasterKey> => {
  if (setting !== undefined) return { ...parseMasterKey(setting), source: 'setting' };
  const path = masterKeyPath(dataDir);
  const existing = await readKeyFile(path);
  if (existing !== null) return { ...existing, source: 'file' };
  const created = await createKeyFile(path);
  // Read it back, so that two processes that start at once agree on one key.
  const key = await readKeyFile(path);
  if (key === null) throw new MasterKeyError(`${path} disappeared while it was being created. Start Florin again.`);
  return { ...key, source: created ? 'created' : 'file' };
};
