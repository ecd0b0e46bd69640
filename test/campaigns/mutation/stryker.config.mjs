import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['src/core/**/*.ts'],
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/campaigns/mutation/vitest.config.ts' },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  ignorePatterns: ['bench', 'contracts', 'data', 'docs', 'web/dashboard'],
  // Not below node_modules: sources there are not transformed.
  tempDirName: join(tmpdir(), 'florin-mutation'),
  reporters: ['clear-text', 'progress-append-only', 'json', 'html'],
  clearTextReporter: { allowColor: false, reportTests: false },
  jsonReporter: { fileName: 'coverage/mutation/report.json' },
  htmlReporter: { fileName: 'coverage/mutation/report.html' },
  thresholds: { high: 95, low: 85, break: 85 },
};
