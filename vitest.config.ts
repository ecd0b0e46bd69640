import { defineConfig } from 'vitest/config';
import { findBrowser } from './test/support/findBrowser.ts';
import { findPgbouncer } from './test/support/findPgbouncer.ts';
import { findPostgresql } from './test/support/findPostgresql.ts';
import { findPrometheus } from './test/support/findPrometheus.ts';
import { hasProxies } from './test/support/findProxy.ts';
import { findRedis } from './test/support/findRedis.ts';

/**
 * `npm run test:all` runs everything and skips nothing; `npm test` leaves out what is tagged `thorough`. `npm run mutants`
 * leaves out only what the machine cannot run.
 */
export default defineConfig(({ mode }) => {
  const isAll = mode === 'all';
  const isThorough = isAll || mode === 'thorough';
  if (isAll && findBrowser() === null) {
    throw new Error('test:all needs Chromium, Chrome or Edge. Install one, or set CHROMIUM_PATH.');
  }
  return {
    test: {
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/support/global.ts'],
      setupFiles: ['test/support/eachFile.ts'],
      reporters: ['default', ['./test/support/skippedNotice.ts', { isAll }]],
      tags: [
        { name: 'basebackup', description: 'needs a PostgreSQL with pg_basebackup', skip: findPostgresql() === null },
        { name: 'browser', description: 'needs Chromium, Chrome or Edge', skip: findBrowser() === null },
        {
          name: 'dump',
          description: 'needs TEST_DATABASE_URL and pg_dump of its server',
          skip: !process.env.TEST_DATABASE_URL,
        },
        { name: 'pgbouncer', description: 'needs PgBouncer', skip: findPgbouncer() === null },
        { name: 'promtool', description: 'needs promtool of Prometheus', skip: findPrometheus('promtool') === null },
        { name: 'proxies', description: 'needs nginx and Caddy', skip: !hasProxies() },
        { name: 'redis', description: 'needs Redis or Valkey', skip: findRedis() === null },
        { name: 'thorough', description: 'left out of npm test, part of npm run test:all' },
      ],
      tagsFilter: isThorough ? [] : ['!thorough'],
      provide: { isThorough },
      pool: 'forks',
      // A worker keeps the sources it has loaded: loading them anew for each file took a sixth of the time. Nothing in them
      // is changed by use, and each file has a database of its own.
      isolate: false,
      // Two cores are the smallest machine this is run on. Much of the time is spent waiting for chains and retries, which
      // leaves room for more workers than cores. What takes long has more of both, and needs fewer beside it.
      maxWorkers: isThorough ? 4 : 6,
      // A busy machine is no fault of a test.
      testTimeout: isThorough ? 180_000 : 60_000,
      hookTimeout: 60_000,
      retry: 0,
    },
  };
});
