import { readFile } from 'node:fs/promises';
import { codeOf } from '../core/errorCode.ts';
import { settings } from './settings.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Settings whose value may stand in a file: environment variables are shown by `docker inspect` and inherited by children. */
export const secretVariables: readonly string[] = Object.values(settings).flatMap(row =>
  'isSecret' in row && row.isSecret ? [row.variable] : [],
);

export const fileVariableOf = (variable: string): string => `${variable}_FILE`;

/**
 * The variables, with the secrets that files hold. The mode of a file is not checked: container engines mount secrets
 * readable for everybody in the container.
 */
export const readSecretFiles = async (env: Variables, problems: string[]): Promise<Variables> => {
  const found: Record<string, string> = {};
  for (const variable of secretVariables) {
    const name = fileVariableOf(variable);
    const path = env[name];
    if (!path) continue;
    if (env[variable]) {
      problems.push(`${variable} and ${name} are both set: unset one`);
      continue;
    }
    try {
      // Editors and `echo` end a file with a line break.
      const text = (await readFile(path, 'utf8')).replace(/[\r\n]+$/, '');
      if (text === '') problems.push(`${name} names an empty file`);
      else found[variable] = text;
    } catch (error) {
      problems.push(`${name} names a file that cannot be read (${codeOf(error)})`);
    }
  }
  return { ...env, ...found };
};
