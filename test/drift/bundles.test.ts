import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildCheckout, buildRecovery } from '../../web/build.ts';

test.each([
  ['web/checkout/built', buildCheckout],
  ['recovery/built', buildRecovery],
])('%s is what its sources give: npm run build', async (name, build) => {
  const folder = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  const files = await build();
  expect((await readdir(folder)).sort()).toEqual([...files.keys()].sort());
  for (const [file, bytes] of files) {
    const isSame = Buffer.from(bytes).equals(await readFile(folder + file));
    expect(isSame, `${file}: run npm run build`).toBe(true);
  }
});
