import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/errorCode.ts';
import { writeFileAtomically } from '../../local/writeFileAtomically.ts';
import type { Config } from '../config.ts';

/** What a command has shown once and Florin cannot see by itself. For `florin doctor --live`. */
export type ShownRecord = {
  /** A copy of the master key with this fingerprint was compared. */
  readonly masterKeyCopy: { readonly fingerprint: string; readonly at: string } | null;
  /** The address with this hash accepted a test alert. */
  readonly alert: { readonly urlHash: string; readonly at: string } | null;
};

type Directory = Pick<Config, 'dataDir'>;

const pathOf = ({ dataDir }: Directory): string => join(dataDir, 'live-checks.json');

const nothing: ShownRecord = { masterKeyCopy: null, alert: null };

/** A damaged file is only a memory of what was shown, and showing it again replaces the file. */
export const readShown = async (config: Directory): Promise<ShownRecord> => {
  try {
    return { ...nothing, ...(JSON.parse(await readFile(pathOf(config), 'utf8')) as Partial<ShownRecord>) };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return nothing;
    throw error;
  }
};

export const noteShown = async (config: Directory, shown: Partial<ShownRecord>): Promise<void> => {
  const record = { ...(await readShown(config)), ...shown };
  await writeFileAtomically(pathOf(config), `${JSON.stringify(record)}\n`, 0o600);
};

/** The address often contains a token, which does not belong into a file. */
export const hashOfUrl = (url: string): string => createHash('sha256').update(url).digest('hex');
