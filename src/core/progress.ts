/** How far a long step is. The message is constant, and says what is done with the units: blocks, rows. */
export type ProgressStep = {
  readonly message: string;
  readonly done: number;
  /** Null if nobody knows. */
  readonly of: number | null;
  /** What is being done now, such as the name of a migration. */
  readonly name?: string;
};

export type Progress = (step: ProgressStep) => void;

export const silentProgress: Progress = () => {};
