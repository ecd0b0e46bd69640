import type { Bad } from './parseSettings.ts';

export type Setting<T> = {
  /** In commander's syntax; absent if only the environment variable exists. */
  readonly flag?: string;
  readonly variable: string;
  readonly fallback: string | null;
  readonly help: string;
  /** The variable with _FILE at its end then names a file with the value. */
  readonly isSecret?: true;
  readonly parse: (text: string, bad: Bad) => T | undefined;
};

export const setting = <T>(row: Setting<T>): Setting<T> => row;
