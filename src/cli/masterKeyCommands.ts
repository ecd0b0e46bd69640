import { readFile, realpath } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { codeOf } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { readKeyState } from '../storage/keys/keyState.ts';
import { masterKeyPath, parseMasterKey } from '../vault/masterKey.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { noteShown } from './live/shownRecord.ts';

const readCopy = async (file: string): Promise<string> => {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new FlorinError('not_found', `${file} cannot be read (${codeOf(error)}).`);
  }
};

/** The same file is no copy, by whatever name. */
const isOriginal = async (file: string, dataDir: string): Promise<boolean> => {
  const real = (path: string): Promise<string | null> => realpath(path).catch(() => null);
  return file !== '-' && (await real(file)) === (await real(masterKeyPath(dataDir)));
};

const compare = (file: string, options: Common): Promise<void> =>
  withAdmin(options, async ({ db, clock }, config) => {
    const copy = parseMasterKey(await readCopy(file));
    if (await isOriginal(file, config.dataDir))
      throw new FlorinError('invalid_request', `${file} is the key itself. Compare a copy that is kept elsewhere.`);
    const { inForce } = await readKeyState(db);
    if (copy.fingerprint !== inForce)
      throw new FlorinError(
        'conflict',
        `${file === '-' ? 'This' : file} is not the master key in force. Copy it again.`,
      );
    const at = new Date(clock.nowMs()).toISOString();
    await noteShown(config, { masterKeyCopy: { fingerprint: inForce, at } });
    print(options, { matches: true, at }, 'The copy is the master key in force.');
  });

export const addMasterKeyCommands = (program: Command): void => {
  const masterKey = program.command('master-key').description('Look after copies of the master key.');
  common(
    masterKey
      .command('compare <file>')
      .description(
        'Compare a copy of the master key with the key in force, and keep for florin doctor --live that there is one. - reads the copy from the standard input.',
      ),
  ).action(compare);
};
