import { expect, test } from 'vitest';
import { type ForgeOptions, runForge } from '../campaigns/forge/forgeRun.ts';

/** Of each kind: sealed rows of an account and of nobody, rows sealed in the process, rows that nothing seals. */
const tables = ['api_keys', 'sessions', 'payments', 'deployment', 'outbox', 'derivation_counters'];

/** `npm run forge` in small. */
test('what somebody writes to the database is refused, found or listed', {
  tags: ['thorough'],
  timeout: 400_000,
}, async () => {
  const lines: string[] = [];
  const options: ForgeOptions = {
    tables,
    rows: 1,
    sample: 12,
    seed: 'short',
    rooms: 1,
    tell: line => void lines.push(line),
    judged({ name, kind }, { outcome, why }) {
      if (outcome === 'FAILED') lines.push(`${name} (${kind}): ${why}`);
    },
  };
  const { counts } = await runForge(options);
  expect(lines).toEqual([]);
  expect(counts.refused + counts.found + counts.listed).toBe(12);
  expect(counts.found).toBeGreaterThan(3);
});
