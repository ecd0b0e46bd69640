import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildCheckout } from '../../web/build.ts';

const folder = fileURLToPath(new URL('../../web/checkout/built/', import.meta.url));

test('web/checkout/built is what its sources give: npm run build', async () => {
  const files = await buildCheckout();
  expect((await readdir(folder)).sort()).toEqual([...files.keys()].sort());
  for (const [name, bytes] of files) {
    const isSame = Buffer.from(bytes).equals(await readFile(folder + name));
    expect(isSame, `${name}: run npm run build`).toBe(true);
  }
});
