import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { FlorinError, invalid } from '../core/errors.ts';

/** Shorter ones can be guessed from a stolen file. */
const fewestCharacters = 8;

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** Asks a person. What they type is not shown. */
const ask = (question: string): Promise<string> =>
  new Promise(resolve => {
    process.stderr.write(question);
    const lines = createInterface({ input: process.stdin, output: nowhere(), terminal: true });
    let line = '';
    lines.once('line', text => {
      line = text;
      lines.close();
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(line);
    });
  });

const firstLineOfInput = async (): Promise<string> => {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
};

const obtain = async (setting: string | null): Promise<string> => {
  if (setting !== null) return setting;
  if (!process.stdin.isTTY) return firstLineOfInput();
  const typed = await ask('Passphrase: ');
  if ((await ask('Again: ')) === typed) return typed;
  throw new FlorinError('invalid_request', 'The two passphrases differ.');
};

/** A new passphrase, from the setting, from a person at a terminal, or from the first line of the input. */
export const readNewPassphrase = async (setting: string | null): Promise<string> => {
  const passphrase = await obtain(setting);
  if (passphrase.length >= fewestCharacters) return passphrase;
  throw invalid(
    undefined,
    `Give a passphrase of at least ${fewestCharacters} characters: at the prompt, as the first line of the input, or in FLORIN_RECOVERY_PASSPHRASE.`,
  );
};
