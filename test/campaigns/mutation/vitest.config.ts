import { statSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A run ends at its first failure: short files are likely to be fast. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => statSync(a.moduleId).size - statSync(b.moduleId).size);
  }
}

/** Tests of src/core that need neither a database nor a socket. */
export default defineConfig({
  test: {
    include: [
      'test/core/**/*.test.ts',
      'test/checkout/contact.test.ts',
      'test/deliveries/schedule.test.ts',
      'test/registry/**/*.test.ts',
    ],
    setupFiles: ['test/campaigns/mutation/endOnFailure.ts'],
    sequence: { sequencer: ShortestFirst },
    testTimeout: 60_000,
  },
});
