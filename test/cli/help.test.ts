import { expect, test } from 'vitest';
import { launch, makeRoom } from './cliProcess.ts';

test.each([['--help'], ['chain', 'rescan', '--help'], ['--version']])(
  'florin %s into a closed pipe ends quietly',
  async (...args) => {
    const command = launch(args, await makeRoom());
    command.leave();
    expect((await command.ended).code).toBe(0);
  },
);
