import { existsSync, readFileSync } from 'node:fs';

/** One small mistake in the source. */
export type Fault = {
  /** What would go wrong for users: one sentence. It also names the fault. */
  readonly harm: string;
  readonly file: string;
  /** A short piece of `file` that occurs in it once. */
  readonly find: string;
  readonly replace: string;
  /** The tests that must fail: paths below test/, without `.test.ts`. As few as notice it. */
  readonly tests: readonly string[];
};

const root = new URL('../../../', import.meta.url);

export const testPath = (name: string): string => `test/${name}.test.ts`;

/** Why the fault cannot be put into the source as it is now, and what to do about it; null when it fits. */
export const misfitOf = ({ harm, file, find, replace, tests }: Fault): string | null => {
  const fault = `The fault "${harm}"`;
  if (!existsSync(new URL(file, root))) {
    return `${fault} is in ${file}, which does not exist. Set "file" to where that code is now, or remove the fault.`;
  }
  const missing = tests.map(testPath).filter(path => !existsSync(new URL(path, root)));
  if (missing.length > 0) return `${fault} names ${missing.join(', ')}, which does not exist. Name others in "tests".`;
  if (tests.length === 0) return `${fault} names no tests. Name those that notice it in "tests".`;
  const places = readFileSync(new URL(file, root), 'utf8').split(find).length - 1;
  if (places === 0) {
    return `${fault} does not fit ${file}: it does not contain ${JSON.stringify(find)}. Find the code that prevents this harm, copy a short unique piece of it to "find", and write to "replace" what breaks it.`;
  }
  if (places > 1) {
    return `${fault} does not fit ${file}: ${JSON.stringify(find)} occurs ${places} times. Lengthen "find" until it occurs once.`;
  }
  return find === replace ? `${fault} changes nothing: "find" and "replace" are equal.` : null;
};
