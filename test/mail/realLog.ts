import { readFile } from 'node:fs/promises';
import { createLog } from '../../src/cli/log.ts';
import type { Log } from '../../src/core/log.ts';

export type RealLog = {
  readonly log: Log;
  /** What a file of the operator would contain: with messages and stacks of errors, and with the access log. */
  text(): Promise<string>;
};

/** A log as a running Florin writes it. A log of a test would turn each error into `{}`, and so hide what it says. */
export const openRealLog = (path: string): RealLog => {
  const logs = createLog({ logLevel: 'debug', logFile: { path, maxBytes: 2 ** 40, files: 2, days: 1 } });
  return {
    log: logs.log,
    async text() {
      await logs.flush();
      return readFile(path, 'utf8');
    },
  };
};
