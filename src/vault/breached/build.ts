import { readFileSync, writeFileSync } from 'node:fs';
import { isGuessable, plainPassword, shortestPassword } from '../../core/access/passwordRules.ts';
import { entryBytes, entryOf } from '../breachedPasswords.ts';

const help = `Writes the list of breached passwords that Florin refuses: node src/vault/breached/build.ts LIST…

Each LIST is a file with one password a line. more.txt is always added. Passwords that the other rules refuse are left
out. Needs about 200 bytes of memory for each password.`;

const output = new URL('./passwords.bin', import.meta.url);

const linesOf = (file: string | URL): string[] => {
  const bytes = readFileSync(file);
  const text = bytes.toString('utf8');
  // Old lists are in Latin-1.
  return (text.includes('\uFFFD') ? bytes.toString('latin1') : text).split(/\r?\n/);
};

const isWorthIt = (plain: string): boolean => [...plain].length >= shortestPassword && !isGuessable(plain);

const files = process.argv.slice(2);
if (files.length === 0 || files.includes('--help')) {
  console.log(help);
} else {
  const entries = new Set<string>();
  for (const file of [...files, new URL('./more.txt', import.meta.url)]) {
    for (const plain of linesOf(file).map(plainPassword)) {
      if (isWorthIt(plain)) entries.add(entryOf(plain).toString('hex'));
    }
    console.log(`${entries.size} after ${file}`);
  }
  const sorted = [...entries].sort().map(each => Buffer.from(each, 'hex'));
  writeFileSync(output, Buffer.concat(sorted, sorted.length * entryBytes));
}
