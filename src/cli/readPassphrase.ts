import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { FlorinError, invalid } from '../core/errors.ts';

/** Shorter ones can be guessed from a stolen file. */
const fewestCharacters = 12;

type Input = Readable & { readonly isTTY?: boolean };

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Asks a person. What they type is not shown. The terminal sends Ctrl-C and Ctrl-D as characters meanwhile. */
const ask = (question: string, input: Input): Promise<string> =>
  new Promise((resolve, reject) => {
    process.stderr.write(question);
    const lines = createInterface({ input, output: nowhere(), terminal: true });
    lines.once('line', text => {
      resolve(text);
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    lines.once('close', () => {
      process.stderr.write('\n');
      // Without effect after a line.
      reject(new Error('No passphrase was given. Nothing was done.'));
    });
  });

const firstLineOfInput = async (input: Input): Promise<string> => {
  const lines = createInterface({ input });
  for await (const line of lines) {
    // An input that stays open would keep the process.
    lines.close();
    return line;
  }
  return '';
};

const obtain = async (setting: string | null, input: Input): Promise<string> => {
  if (setting !== null) return setting;
  if (!input.isTTY) return firstLineOfInput(input);
  return askTwice(input);
};

const askTwice = async (input: Input): Promise<string> => {
  const typed = await ask('Passphrase: ', input);
  if ((await ask('Again: ', input)) === typed) return typed;
  throw new FlorinError('invalid_request', 'The two passphrases differ.');
};

/** A new passphrase, from the setting, from a person at a terminal, or from the first line of the input. */
export const readNewPassphrase = async (setting: string | null, input: Input = process.stdin): Promise<string> => {
  const passphrase = await obtain(setting, input);
  if (passphrase.length >= fewestCharacters) return passphrase;
  throw invalid(
    undefined,
    `Give a passphrase of at least ${fewestCharacters} characters: at the prompt, as the first line of the input, or in FLORIN_RECOVERY_PASSPHRASE.`,
  );
};

const firstLineOf = async (path: string): Promise<string> => (await readFile(path, 'utf8')).split(/\r?\n/)[0]!;

/** A new passphrase for a backup: from a file, or from a person. Null if there is neither. */
export const readBackupPassphrase = async (
  path: string | null,
  input: Input = process.stdin,
): Promise<string | null> => {
  if (path === null && !input.isTTY) return null;
  const passphrase = path === null ? await askTwice(input) : await firstLineOf(path);
  if (passphrase.length >= fewestCharacters) return passphrase;
  throw invalid(undefined, `Give a passphrase of at least ${fewestCharacters} characters.`);
};

/** The passphrase of a backup that exists. */
export const readKnownPassphrase = async (
  path: string | null,
  input: Input = process.stdin,
): Promise<string | null> => {
  if (path !== null) return firstLineOf(path);
  return input.isTTY ? ask('Passphrase: ', input) : null;
};
