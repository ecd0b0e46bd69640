// @module-tag browser
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { shadesOf } from '../../src/core/accent.ts';
import { brandColumns } from '../../src/engine/access/branding.ts';
import { sealRegisters } from '../../src/engine/audit/register.ts';
import { lockSettings, updateSettings } from '../../src/storage/access/settings.ts';
import { expectAccessibleInBoth } from './axe.ts';
import { inState, useCheckoutScene } from './checkoutScene.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();

const chunk = (kind: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A grey square that a browser can draw. */
const square = (side: number): Buffer => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.writeUInt8(8, 8);
  const pixels = deflateSync(Buffer.alloc(side * (side + 1), 0x80));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 0x1a, 10]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
};

const logo = `data:image/png;base64,${square(96).toString('base64')}`;

/** As the settings page leaves it, for whoever owns the payment. */
const brand = async (paymentId: string, branding: Parameters<typeof brandColumns>[0]): Promise<void> => {
  const { admin } = scene.florin;
  await admin.db.transaction(async tx => {
    const text = 'select account_id as "accountId", environment from payments where id = $1';
    type Owner = { accountId: string; environment: 'sandbox' };
    const [owner] = await tx.query<Owner>({ name: 'test-owner', text }, [paymentId]);
    await updateSettings(tx, owner!, { ...(await lockSettings(tx, owner!))!, ...brandColumns(branding) });
  });
  // The row of the audit log would vouch for the settings.
  await sealRegisters(admin, { all: true });
};

const loaded = ({ requests }: WatchedPage): string[] =>
  requests
    .map(each => new URL(each.url()))
    .filter(url => !/\/(?:live|main)$/.test(url.pathname))
    .map(url => url.href);

const customProperty = (watched: WatchedPage, name: string): Promise<string> =>
  watched.page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('${name}').trim()`);

describe('a page with a brand', () => {
  test('shows it within the same four requests, and breaks no rule of its policy', async () => {
    const payment = await scene.calls.made();
    await brand(payment.id, { displayName: 'Blumen <b>Müller</b>', accentColor: '#ffe600', logo });
    const watched = await scene.open(payment);
    await inState(watched, 'waiting');
    await watched.page.waitForLoadState('networkidle');
    const { page } = watched;
    expect(await page.locator('.shop').innerText()).toBe('Blumen <b>Müller</b>');
    const picture = page.locator('.shop img');
    expect(await page.evaluate("document.querySelector('.shop img').naturalWidth")).toBe(96);
    expect((await picture.boundingBox())!.width).toBe(36);
    expect(await customProperty(watched, '--accent')).toBe(shadesOf('#ffe600').light.accent);
    // Some browsers ask for an icon by itself: the logo is there by then.
    expect(new Set(loaded(watched)).size).toBeLessThanOrEqual(4);
    expectNoProblems(watched);
    await watched.close();
  });

  // The hardest to read: a light one on white, a dark one on black, and one between.
  test.each(['#ffe600', '#10104a', '#777777'])(
    'can be read in light and in dark with %s',
    { tags: ['thorough'] },
    async accentColor => {
      const payment = await scene.calls.made();
      await brand(payment.id, { displayName: 'Acme', accentColor, logo });
      const watched = await scene.open(payment, { colorScheme: 'light' });
      await inState(watched, 'waiting');
      await expectAccessibleInBoth(watched);
      expect(await customProperty(watched, '--accent')).toBe(shadesOf(accentColor).dark.accent);
      await watched.close();
    },
  );
});
