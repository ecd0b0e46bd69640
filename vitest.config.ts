import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    pool: 'forks',
    // A worker keeps the sources it has loaded: loading them anew for each file took a sixth of the time. Nothing in them
    // is changed by use, and each file has a database of its own.
    isolate: false,
    // Two cores are the smallest machine this is run on. Much of the time is spent waiting for chains and retries, so that
    // one more than cores finds room; servers and node processes need the rest.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
  },
});
