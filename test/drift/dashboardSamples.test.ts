import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventText } from '../../src/core/payment/eventText.ts';
import { paymentEventTypes } from '../../src/core/payment/states.ts';
import { verifySamples } from '../../web/dashboard/webhooks/verifySamples.ts';

const guide = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

test.each(verifySamples)('the code for $language is that of the guide', ({ code }) => {
  const blocks = [...guide.matchAll(/^```[a-z]+\n(.*?)^```$/gms)].map(match => match[1]);
  expect(blocks).toContain(code);
});

test('every kind of event is described in the words of the guide', () => {
  const wordsOnly = (text: string): string => text.toLowerCase().replace(/[`.]/g, '');
  for (const name of paymentEventTypes) {
    const told = new RegExp(`^\\| \`${name}\` \\| (.*) \\|$`, 'm').exec(guide)?.[1];
    expect(wordsOnly(eventText[name]), name).toBe(wordsOnly(told!));
  }
});
