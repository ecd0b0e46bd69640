// @module-tag browser
import jsQrModule from 'jsqr';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { inState, useCheckoutScene } from './checkoutScene.ts';
import type { WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();
// The package is CommonJS, whose types say otherwise.
const readQr = jsQrModule as unknown as typeof import('jsqr').default;

/** Chromium unpacks the picture, in a page that is nobody's. */
const unpack = (picture: string): string => `(async () => {
  const answer = await fetch('data:image/png;base64,${picture}');
  const bitmap = await createImageBitmap(await answer.blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  return { width: bitmap.width, height: bitmap.height, bytes: Array.from(data, byte => String.fromCharCode(byte)).join('') };
})()`;

/** What a camera would read off the screen. */
const decode = async ({ context }: WatchedPage, code: Locator): Promise<string | undefined> => {
  const picture = (await code.screenshot()).toString('base64');
  const blank = await context.newPage();
  const { width, height, bytes } = (await blank.evaluate(unpack(picture))) as Record<string, number> & {
    bytes: string;
  };
  await blank.close();
  return readQr(Uint8ClampedArray.from(Buffer.from(bytes, 'latin1')), width!, height!)?.data;
};

const codes = async (watched: WatchedPage): Promise<Record<string, string | undefined>> => {
  const { page } = watched;
  const shown = page.locator('figure[data-code] svg:visible');
  const read: Record<string, string | undefined> = {};
  for (const code of ['request', 'address']) {
    await page.locator(`#code-${code}`).click();
    expect(await page.locator(`#code-${code}`).getAttribute('aria-pressed')).toBe('true');
    expect(await shown.count()).toBe(1);
    read[code] = await decode(watched, shown);
  }
  return read;
};

describe.each([
  ['light', []],
  ['dark', ['thorough']],
] as const)('codes read off a screen that is %s', (colorScheme, tags) => {
  test('are the request for tokens, and then for what is missing, and the bare address', {
    tags: [...tags],
  }, async () => {
    const payment = await scene.calls.made();
    const watched = await scene.open(payment, { colorScheme });
    const request = async (units: number): Promise<string> =>
      `ethereum:${await scene.contractOf(payment)}@31337/transfer?address=${payment.address}&uint256=${units}`;
    expect(await codes(watched)).toEqual({ request: await request(25_000_000), address: payment.address });
    await scene.pay(payment, 9_999_999n);
    await inState(watched, 'underpaid');
    expect(await codes(watched)).toEqual({ request: await request(15_000_001), address: payment.address });
    await watched.close();
  });
});

test('codes at 320 pixels are the request for native coin, and the address', async () => {
  const payment = await scene.calls.made({ currency: 'ETH', amount: '0.012345678901234567' });
  const watched = await scene.open(payment, { viewport: { width: 320, height: 640 } });
  const request = `ethereum:${payment.address}@31337?value=12345678901234567`;
  expect(await codes(watched)).toEqual({ request, address: payment.address });
  const widths = '[document.documentElement.scrollWidth, innerWidth]';
  const [scrolled, wide] = (await watched.page.evaluate(widths)) as [number, number];
  expect(scrolled).toBe(wide);
  await watched.close();
});
