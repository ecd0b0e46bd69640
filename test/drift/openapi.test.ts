import { expect, test } from 'vitest';
import { startTestFlorin } from '../support/florin.ts';

test('docs/openapi.json is the document that Florin serves', async () => {
  const scene = await startTestFlorin();
  try {
    const served = await scene.client.call('GET', '/openapi.json');
    expect(served.status).toBe(200);
    const text = `${JSON.stringify(served.json, null, 2)}\n`;
    await expect(text, 'the API changed: run npm run generate and review docs/openapi.json').toMatchFileSnapshot(
      '../../docs/openapi.json',
    );
  } finally {
    await scene.stop();
  }
});
