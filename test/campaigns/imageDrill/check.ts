export type Check = { readonly name: string; readonly problem: string | null };
/** Work returns what to print beside the name, and throws what is wrong. */
export type Checker = (name: string, work: () => Promise<string> | string) => Promise<void>;

/** What a part of the drill needs. */
export type Scene = {
  readonly folder: string;
  readonly image: string;
  readonly runOptions: readonly string[];
  readonly check: Checker;
};

export const createChecker = (checks: Check[], tell: (text: string) => void): Checker => {
  return async (name, work) => {
    const startedMs = performance.now();
    let [said, problem]: [string, string | null] = ['', null];
    try {
      said = await work();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    checks.push({ name, problem });
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    tell(`${problem === null ? 'ok    ' : 'FAILED'} ${name}: ${problem ?? said} (${seconds} s)`);
  };
};

export const expectEqual = (found: unknown, wanted: unknown, what: string): void => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
};
