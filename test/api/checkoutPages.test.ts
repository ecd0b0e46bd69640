import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { languages } from '../../src/checkout/languages.ts';
import { type Answer, send } from '../support/send.ts';
import { until } from '../support/until.ts';
import {
  attributeOf,
  type CheckoutScene,
  framePolicy,
  noticePage,
  startCheckoutScene,
  tokenOf,
} from './checkoutScene.ts';
import { spend } from './spendLimit.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene();
});

const guarded = {
  'content-security-policy': framePolicy("'none'"),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': expect.stringMatching(/camera=\(\).*payment=\(\)/),
  'x-request-id': expect.stringMatching(/^req_/),
};
const pageHeaders = {
  ...guarded,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-language': 'en',
  vary: 'Accept-Language, Accept-Encoding',
};

describe('a page', () => {
  test('is what checkoutUrl leads to, under all headers', async () => {
    const payment = await scene.calls.made({ description: 'Ten <b>teas</b>' });
    expect(payment.checkoutUrl).toBe(`${scene.florin.florin.urls.sandbox}/checkout/${payment.id}`);
    const { status, headers, text } = await scene.get(payment.id);
    expect([status, headers]).toEqual([200, expect.objectContaining(pageHeaders)]);
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).toContain('Acme &amp; Sons &lt;Tea&gt;');
    expect(text).toContain('Ten &lt;b&gt;teas&lt;/b&gt;');
    expect(text).toContain(payment.address);
    expect(text).toContain(payment.paymentUri.replaceAll('&', '&amp;'));
    expect(attributeOf(text, 'data-id')).toBe(payment.id);
    expect(attributeOf(text, 'data-state')).toBe('waiting');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son[a-z]+=|\sstyle=|(?:src|href)="(?:https?:)?\/\//i);
  });

  test('tells the time of each answer, and is otherwise the same', async () => {
    const { id } = await scene.calls.made();
    const at = ({ headers }: Answer) => /^clock;desc="([^"]+)"$/.exec(String(headers['server-timing']))![1]!;
    const first = await scene.get(id);
    const later = await until(
      () => scene.get(id),
      answer => at(answer) > at(first),
    );
    expect(at(later)).toBe(new Date(at(later)).toISOString());
    expect(later.text).toBe(first.text);
  });

  test('answers HEAD without a body', async () => {
    const { id } = await scene.calls.made();
    const page = await scene.get(id);
    for (const [path, length] of [
      [id, page.headers['content-length']],
      [`${id}/main`, (await scene.get(`${id}/main`)).headers['content-length']],
      [`assets/${checkoutAssets().css.name}`, String(checkoutAssets().css.body.length)],
    ] as const) {
      const head = await scene.florin.client.call('HEAD', `/checkout/${path}`);
      expect([head.status, head.text, head.headers['content-length']], path).toEqual([200, '', length]);
      expect(head.headers, path).toMatchObject(guarded);
    }
  });

  test('speaks the language that is asked for, or else one that the browser does', async () => {
    const { id } = await scene.calls.made();
    const lang = async (query: string, accept?: string) =>
      attributeOf(
        (await scene.get(`${id}${query}`, accept ? { headers: { 'accept-language': accept } } : {})).text,
        'lang',
      );
    for (const { tag, dir } of languages) {
      expect(await lang(`?lang=${tag}`, 'fr')).toBe(tag);
      expect(attributeOf((await scene.get(`${id}?lang=${tag}`)).text, 'dir')).toBe(dir);
    }
    expect(await lang('', 'de;q=0.9, en;q=0.1')).toBe('de');
    for (const odd of ['?lang=xx', '?lang=', '?lang=de&lang=ar', '?lang[]=de', '?utm_source=mail', '?lang=%00'])
      expect(await lang(odd), odd).toBe('en');
  });

  test('has no metadata, callback, own id or key of the merchant, and nothing of another payment', async () => {
    const other = await scene.calls.made({ description: 'somebody else' });
    const payment = await scene.calls.made({
      metadata: { secret: 'metadata-secret' },
      callbackUrl: 'https://callback.example/secret-path',
      externalId: 'external-secret-7',
    });
    for (const path of [payment.id, `${payment.id}/main`]) {
      const { text, headers } = await scene.get(path);
      const all = text + JSON.stringify(headers);
      for (const hidden of ['metadata-secret', 'callback.example', 'external-secret', scene.account.id, other.id])
        expect(all, hidden).not.toContain(hidden);
      expect(all).not.toContain(other.address);
      expect(all).not.toContain('somebody else');
    }
  });

  test('leads back over https only', async () => {
    const [secure, plain] = [
      await scene.calls.made({ redirectUrl: 'https://shop.example/thanks?a=1&b=2' }),
      await scene.calls.made({ redirectUrl: 'http://localhost:3000/thanks' }),
    ];
    for (const { id } of [secure, plain]) {
      const token = tokenOf((await scene.get(id)).text)!;
      await scene.post(id, { token, outcome: 'paid' });
      await until(
        () => scene.get(id),
        ({ text }) => attributeOf(text, 'data-state') === 'completed',
      );
    }
    expect((await scene.get(secure.id)).text).toContain('href="https://shop.example/thanks?a=1&amp;b=2"');
    expect((await scene.get(plain.id)).text).not.toContain('localhost:3000');
  });
});

describe('the part that changes', () => {
  test('is main alone, with a tag to ask again by', async () => {
    const { id } = await scene.calls.made();
    const { status, headers, text } = await scene.get(`${id}/main`);
    expect(status).toBe(200);
    expect(text).toMatch(/^<main [\s\S]*<\/main>$/);
    expect(headers).toMatchObject({ ...pageHeaders, 'cache-control': 'private, no-cache' });
    const etag = String(headers.etag);
    for (const tag of [etag, etag.replace('W/', ''), `"x", ${etag}`]) {
      const same = await scene.get(`${id}/main`, { headers: { 'if-none-match': tag } });
      expect([same.status, same.text, same.headers.etag], tag).toEqual([304, '', etag]);
    }
    const german = await scene.get(`${id}/main?lang=de`, { headers: { 'if-none-match': etag } });
    expect(german.status).toBe(200);
    await scene.calls.act(id, 'cancel');
    const changed = await scene.get(`${id}/main`, { headers: { 'if-none-match': etag } });
    expect([changed.status, attributeOf(changed.text, 'data-state')]).toEqual([200, 'canceled']);
  });

  test('asks for exactly what is missing', async () => {
    const { id, paymentUri } = await scene.calls.made({ amount: '25.000001' });
    const token = tokenOf((await scene.get(id)).text)!;
    await scene.post(id, { token, outcome: 'underpaid' });
    const { text } = await until(
      () => scene.get(`${id}/main`),
      answer => attributeOf(answer.text, 'data-state') === 'underpaid',
    );
    expect(text).toContain('12.500001');
    expect(text).toContain(paymentUri.replace(/uint256=\d+/, 'uint256=12500001').replaceAll('&', '&amp;'));
    expect(text).not.toContain('uint256=25000001');
  });
});

/** The body of an answer as sent, still compressed. */
const packedBytes = (path: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { urls, caPath } = scene.florin.florin;
    const headers = { 'accept-encoding': 'gzip' };
    request(`${urls.sandbox}${path}`, { ca: readFileSync(caPath!), agent: false, headers }, incoming => {
      const chunks: Buffer[] = [];
      incoming.on('data', chunk => chunks.push(chunk)).once('end', () => resolve(Buffer.concat(chunks)));
    })
      .once('error', reject)
      .end();
  });

test('a page and its part are packed for who takes it', async () => {
  const { id } = await scene.calls.made();
  for (const path of [id, `${id}/main`]) {
    const plain = (await scene.get(path)).text;
    const bytes = await packedBytes(`/checkout/${path}`);
    expect(bytes.length * 2, path).toBeLessThan(plain.length);
    expect(gunzipSync(bytes).toString()).toBe(plain);
  }
});

describe('files', () => {
  test('that the page names are served for ever, packed for who takes it', async () => {
    const page = (await scene.get((await scene.calls.made()).id)).text;
    for (const { name, contentType, body } of Object.values(checkoutAssets())) {
      const plain = await scene.get(`assets/${name}`);
      expect(plain.headers).toMatchObject({
        ...guarded,
        'content-type': contentType,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
      });
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.text).toBe(body.toString());
      const packed = await scene.florin.client.call('HEAD', `/checkout/assets/${name}`, {
        headers: { 'accept-encoding': 'br, gzip' },
      });
      expect(packed.headers['content-encoding']).toBe('gzip');
      const refused = await scene.get(`assets/${name}`, { headers: { 'accept-encoding': 'gzip;q=0, br' } });
      expect(refused.headers['content-encoding']).toBeUndefined();
    }
    // The answer to a form may be a page one path segment deeper.
    const { css } = checkoutAssets();
    expect((await scene.get(`x/assets/${css.name}`)).text).toBe(css.body.toString());
    for (const { name } of [checkoutAssets().css, checkoutAssets().script]) expect(page).toContain(`"assets/${name}"`);
  });

  test('unpack to what they are', async () => {
    const { name, body } = checkoutAssets().script;
    const packed = await packedBytes(`/checkout/assets/${name}`);
    expect(packed.length).toBeLessThan(body.length);
    expect(gunzipSync(packed).equals(body)).toBe(true);
  });

  test.each(['assets/nothing.css', 'assets/..%2f..%2fpackage.json', 'assets/', 'assets', 'assets/main'])(
    '%s is not there',
    async path => {
      const answer = await scene.get(path);
      expect([answer.status, answer.text]).toEqual([404, noticePage('unknown')]);
    },
  );
});

describe('ids', () => {
  test('that are unknown, malformed or of the other environment get the same page', async () => {
    const { id } = await scene.calls.made();
    const unknown = await scene.get(`pay_${'0'.repeat(26)}`);
    expect([unknown.status, unknown.text]).toEqual([404, noticePage('unknown')]);
    const asked = [
      scene.get(id, { environment: 'production' }),
      scene.get('pay_x'),
      scene.get(id.toUpperCase()),
      scene.get(`${id}%00`),
      scene.get(`${id}/nothing`),
      scene.get('x'.repeat(5_000)),
      scene.get(`${id}/main`, { environment: 'production' }),
      scene.get(`${id}/live`, { environment: 'production' }),
      scene.get(`pay_${'0'.repeat(26)}/main`),
      scene.florin.client.call('GET', '/checkout'),
      scene.florin.client.call('GET', '/checkout/'),
    ];
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
      expect(Object.keys(answer.headers).sort()).toEqual(Object.keys(unknown.headers).sort());
    }
  });

  test('with a key count as without: a page shows no more to a merchant', async () => {
    const { id } = await scene.calls.made();
    const stranger = await scene.florin.account();
    const keyed = await scene.get(id, { key: stranger.keys.sandbox });
    expect([keyed.status, attributeOf(keyed.text, 'data-id')]).toEqual([200, id]);
  });
});

describe('errors are pages in the language of the payer', () => {
  const german = languages.find(({ tag }) => tag === 'de')!;
  test.each(['PUT', 'DELETE', 'PATCH', 'POST'])('405 for %s', async method => {
    const { id } = await scene.calls.made();
    const answer = await scene.florin.client.call(method, `/checkout/${id}?lang=de`);
    expect([answer.status, answer.text, answer.headers.allow]).toEqual([
      405,
      noticePage('unavailable', german),
      'GET, HEAD',
    ]);
    expect(answer.headers).toMatchObject({ ...pageHeaders, 'content-language': 'de' });
  });

  test('429, and the limit is one by address', async () => {
    const { id } = await scene.calls.made();
    const ask = (address: string) => scene.get(`${id}/main`, { headers: { 'x-forwarded-for': address } });
    const { refused } = await spend(600, () => ask('198.51.100.7'));
    expect(refused.text).toBe(noticePage('unavailable'));
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('198.51.100.8')).status).toBe(200);
  });

  test('403 for a stretch of the way without TLS', async () => {
    const answer = await send(scene.florin.florin.urls.sandbox.replace('https:', 'http:'), 'GET', '/checkout/x');
    expect(answer.json.error.code).toBe('https_required');
  });
});

test('the reference is of the API alone', async () => {
  const { json } = await scene.florin.client.call('GET', '/openapi.json');
  expect(Object.keys(json.paths).filter(path => path.includes('/checkout'))).toEqual([]);
});
