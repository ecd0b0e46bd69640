type End = () => unknown;

const ends: End[] = [];

/** Runs when the tests of the present file are over, however they ended: the last one registered runs first. */
export const atEndOfFile = (end: End): void => void ends.push(end);

/** Called by the set-up of every file. A part that cannot be ended does not keep the others from it. */
export const endFile = async (): Promise<void> => {
  const problems: unknown[] = [];
  for (let end = ends.pop(); end; end = ends.pop()) {
    try {
      await end();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw new AggregateError(problems, 'not everything that the tests started could be ended');
};
