import { randomBytes } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { hasCode } from '../../core/errorCode.ts';
import { type PostgresFiles, writePrivateFile } from './postgresFiles.ts';

export type Passwords = { readonly superuser: string; readonly owner: string; readonly service: string };

/** The recorded passwords. The first start makes them before it creates the cluster. */
export const ensurePasswords = async (files: PostgresFiles): Promise<Passwords> => {
  const recorded = await readPasswords(files);
  if (recorded !== null) return recorded;
  const hasCluster = await access(files.cluster).then(
    () => true,
    () => false,
  );
  if (hasCluster) {
    throw new Error(`${files.passwords} is missing, so the database beside it cannot be opened. Restore the file.`);
  }
  const passwords = { superuser: makePassword(), owner: makePassword(), service: makePassword() };
  await writePrivateFile(files.passwords, `${JSON.stringify(passwords)}\n`);
  return passwords;
};

export const readPasswords = async (files: PostgresFiles): Promise<Passwords | null> => {
  try {
    const parsed: unknown = JSON.parse(await readFile(files.passwords, 'utf8'));
    if (isPasswords(parsed)) return parsed;
    throw new Error(`${files.passwords} is damaged. Restore the file.`);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
};

const isPasswords = (value: unknown): value is Passwords => {
  if (typeof value !== 'object' || value === null) return false;
  const { superuser, owner, service } = value as Record<string, unknown>;
  return typeof superuser === 'string' && typeof owner === 'string' && typeof service === 'string';
};

const makePassword = () => randomBytes(24).toString('hex');
