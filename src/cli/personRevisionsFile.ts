import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import type { AdminContext } from '../engine/access/accounts.ts';
import { comparePeople, type PersonRevisions, raiseToRemembered } from '../engine/access/personRevisions.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import type { Floors } from '../storage/floors.ts';
import type { Config } from './config.ts';

const pathOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'person-revisions.json');

const isRevisions = (value: unknown): value is PersonRevisions =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(each => typeof each === 'string' && /^\d{1,18}(?: [0-9a-f]{64})?$/.test(each));

const readRemembered = async (path: string): Promise<PersonRevisions> => {
  const text = await readFile(path, 'utf8').catch(error => {
    if (hasCode(error, 'ENOENT')) return '{}';
    throw error;
  });
  const unreadable = new FlorinError(
    'conflict',
    `${path} was changed or damaged. Find the cause, then delete the file.`,
  );
  try {
    const revisions: unknown = JSON.parse(text);
    if (isRevisions(revisions)) return revisions;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw unreadable;
};

/** Lets this process refuse earlier rows of people. A file that cannot be read is told where it is written. */
export const rememberPeople = async (config: Pick<Config, 'dataDir'>, floors: Floors): Promise<void> =>
  raiseToRemembered(floors, await readRemembered(pathOf(config)).catch(() => ({})));

/** After a restore that the operator declares, earlier rows are those that there are. */
export const forgetPeople = (config: Pick<Config, 'dataDir'>): Promise<void> => rm(pathOf(config), { force: true });

/** Stores how often the row of each person was changed. Returns who is as they were before, and whether anybody was stored. */
export const keepPersonRevisions = async (
  config: Pick<Config, 'dataDir'>,
  admin: Pick<AdminContext, 'db' | 'vault' | 'floors'>,
): Promise<{ readonly problems: string[]; readonly isCompared: boolean }> => {
  const path = pathOf(config);
  const remembered = await readRemembered(path);
  const { problems, revisions } = await comparePeople(admin, remembered);
  await writeFileAtomically(path, `${JSON.stringify(revisions)}\n`, 0o600);
  return { problems, isCompared: Object.keys(remembered).length > 0 };
};
