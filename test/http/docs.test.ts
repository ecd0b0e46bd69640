import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { errorStatus } from '../../src/core/errors.ts';
import { renderDocs } from '../../src/http/docs/docs.ts';
import { errorGuide } from '../../src/http/docs/docsErrors.ts';
import { exampleAnswerOf, exampleBodyOf } from '../../src/http/docs/docsExamples.ts';
import { verification } from '../../src/http/docs/docsGuides.ts';
import type { DocsPlace } from '../../src/http/docs/docsPlace.ts';
import type { Schema } from '../../src/http/docs/docsSchema.ts';
import { type OpenApi, openApiDocument } from '../../src/http/docs/openapi.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { documentedRoutes as routes } from './documentedRoutes.ts';

const document = openApiDocument(routes, 'sandbox');
const local: DocsPlace = {
  environment: 'sandbox',
  urls: { production: 'https://localhost:9001', sandbox: 'https://localhost:9002' },
};
const live: DocsPlace = {
  environment: 'production',
  urls: { production: 'https://pay.shop.example', sandbox: 'https://test.shop.example' },
};
const page = renderDocs(document, local);
const livePage = renderDocs(openApiDocument(routes, 'production'), live);

const unescaped = (text: string): string =>
  text
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

describe('the closed table of errors', () => {
  const rows = Object.entries(errorStatus).map(([code, status]) => {
    const { when, remedy } = errorGuide[code as keyof typeof errorStatus];
    return [code, String(status), when, remedy];
  });

  test('is the same in docs/errors.md', () => {
    const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
    const written = text
      .split('\n')
      .filter(line => line.startsWith('| `'))
      .map(line => line.slice(2, -2).split(' | '));
    expect(written).toEqual(rows.map(([code, ...rest]) => [`\`${code}\``, ...rest]));
  });

  test('is the same in the OpenAPI document', () => {
    const { properties } = document.components.schemas.Error as {
      properties: { error: { properties: { code: Schema } } };
    };
    expect(properties.error.properties.code.enum).toEqual(Object.keys(errorStatus));
    for (const { responses } of Object.values(document.paths).flatMap(
      Object.values,
    ) as OpenApi['paths'][string][string][]) {
      for (const [status, { description }] of Object.entries(responses).filter(([status]) => status !== '200')) {
        const codes = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code as keyof typeof errorStatus);
        expect(codes.map(code => errorStatus[code])).toEqual(codes.map(() => Number(status)));
      }
    }
  });

  test('is the same on the page', () => {
    const shown = [...page.body.matchAll(/<tr id="error-[a-z_]+">(.*?)<\/tr>/gs)].map(([, row]) =>
      [...row!.matchAll(/<code>(.*?)<\/code>|<td class="type">(.*?)<\/td>|<p[^>]*>(.*?)<\/p>/g)].map(match =>
        unescaped(match.slice(1).join('')),
      ),
    );
    expect(shown).toEqual(rows);
  });
});

describe('the reference page', () => {
  test('allows its own style and nothing else', () => {
    const style = /<style>(.*?)<\/style>/s.exec(page.body)![1]!;
    expect(page.contentType).toBe('text/html; charset=utf-8');
    expect(page.headers).toEqual({
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(page.body).not.toMatch(/<script|\son[a-z]+=|\sstyle=|\ssrc=|<link|@import|url\(/i);
    expect([...page.body.matchAll(/href="([^"]*)"/g)].filter(([, to]) => !/^(#|\/openapi\.json$)/.test(to!))).toEqual(
      [],
    );
  });

  test('shows every operation, with its permission, and every link leads somewhere', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { operationId, security }] of Object.entries(operations)) {
        const article = new RegExp(`<article class="pair" id="${operationId}".*?</article>`, 's').exec(page.body)![0];
        expect(unescaped(article)).toContain(`${method.toUpperCase()} ${path}`);
        expect(unescaped(article)).toContain(security ? `Needs a key with ${security[0]!.apiKey[0]}` : 'No key needed');
      }
    }
    const ids = [...page.body.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of page.body.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });

  test('speaks of the addresses and keys of its own environment', () => {
    expect(page.body).toContain('export FLORIN_KEY=sk_test_…');
    expect(livePage.body).toContain('export FLORIN_KEY=sk_live_…');
    expect(livePage.body).not.toMatch(/localhost|cacert|FLORIN_CA/);
    for (const { body } of [page, livePage]) expect(body).not.toMatch(/localhost:844[34]/);
    for (const url of Object.values(live.urls)) expect(livePage.body).toContain(`<code>${url}</code>`);
  });

  test('says that there is a dashboard, and shows no table without rows', () => {
    for (const { body } of [page, livePage]) {
      const notice = /<p class="notice".*?<\/p>/s.exec(body)!;
      expect(notice.index).toBeLessThan(body.indexOf('id="authentication"'));
      expect(unescaped(notice[0])).toMatch(/Start in the sandbox.*in the dashboard/s);
      expect(body).not.toContain('no dashboard');
      expect(body).not.toMatch(/<tbody>\s*<\/tbody>/);
    }
  });

  test('escapes whatever the document says', () => {
    const hostile = `</style><script>alert("1")</script><b a='&amp;'>`;
    const text = JSON.stringify(document, (key, value) =>
      ['summary', 'description', 'title', 'version'].includes(key) && typeof value === 'string' ? hostile : value,
    );
    const { body } = renderDocs(JSON.parse(text) as OpenApi, local);
    expect(body).not.toMatch(/<script|<b a/);
    expect(body.match(/<\/style>/g)).toHaveLength(1);
    expect(body).toContain(
      '&lt;/style&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&lt;b a=&#39;&amp;amp;&#39;&gt;',
    );
  });
});

describe('examples', () => {
  const operations = routes.map(route => [route.operationId, route] as const);
  const answerOf = (id: string, place = local): Record<string, unknown> => {
    const [, route] = operations.find(([operationId]) => operationId === id)!;
    return exampleAnswerOf(id, route.answer as Schema, place) as Record<string, unknown>;
  };

  test.each(operations)('%s fits its schema', (operationId, { answer, body }) => {
    for (const place of [local, live]) {
      const example = answer && exampleAnswerOf(operationId, answer as Schema, place);
      if (answer) expect([...Value.Errors(answer, example)]).toEqual([]);
      if (body) expect([...Value.Errors(body, exampleBodyOf(body as Schema, place))]).toEqual([]);
    }
  });

  test('show what the operation really leaves behind', () => {
    expect(answerOf('cancelPayment')).toMatchObject({ status: 'canceled', canceledAt: expect.any(String) });
    expect(answerOf('createPayment')).toMatchObject({ status: 'pending', canceledAt: null });
    expect(answerOf('resolvePayment')).toMatchObject({ status: 'completed', transactions: [{ status: 'confirmed' }] });
    expect(answerOf('getDelivery')).toMatchObject({ status: 'succeeded', attempts: 1, nextAttemptAt: null });
    expect(answerOf('listParkedDeliveries')).toMatchObject({
      data: [{ status: 'parked', parkedReason: expect.any(String) }],
    });
    expect(answerOf('resendDelivery')).toMatchObject({
      id: expect.stringMatching(/^dlv_/),
      status: 'scheduled',
      nextAttemptAt: expect.any(String),
      finishedAt: null,
    });
    expect(answerOf('getEvent')).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      type: 'payment.created',
      data: { id: expect.stringMatching(/^pay_/), status: 'pending' },
      previous: { status: null },
    });
    const withSecret = operations.flatMap(([id, { answer }]) =>
      answer && JSON.stringify(answerOf(id) ?? null).includes('"secret"') ? [id] : [],
    );
    expect(withSecret.sort()).toEqual(['createWebhook', 'rotateWebhookSecret']);
  });

  test('name an object of the right kind in the path', () => {
    const targets = [...page.body.matchAll(/localhost:9002(\/v1\/[a-z]+)\/([a-z]+_)/g)].map(
      ([, path, id]) => path! + id!,
    );
    expect([...new Set(targets)].sort()).toEqual([
      '/v1/deliveriesdlv_',
      '/v1/eventsevt_',
      '/v1/paymentspay_',
      '/v1/webhookswe_',
    ]);
  });

  test('ask for a page, and with what has to be said', () => {
    const queries = [...page.body.matchAll(/localhost:9002\/v1\/([a-z]+)\?([^']*?)&#39;/g)];
    expect(Object.fromEntries(queries.map(([, list, query]) => [list, unescaped(query!)]))).toEqual({
      payments: 'limit=20',
      webhooks: 'limit=20',
      events: 'limit=20',
      deliveries: 'status=parked&limit=20',
    });
  });

  test('are of the chain behind the environment', () => {
    expect(answerOf('createPayment')).toMatchObject({
      environment: 'sandbox',
      checkoutUrl: expect.stringMatching(/^https:\/\/localhost:9002\//),
      paymentUri: expect.stringContaining('@31337/'),
      confirmations: { current: 0, required: 2, rule: 'depth' },
    });
    expect(answerOf('createPayment', live)).toMatchObject({
      environment: 'production',
      checkoutUrl: expect.stringMatching(/^https:\/\/pay\.shop\.example\//),
      paymentUri: expect.stringContaining('@8453/'),
      confirmations: { current: 0, required: null, rule: 'finalized' },
    });
  });

  test.each([
    ['sandbox', page, ['--cacert', 'ca.pem'], /^https:\/\/localhost:9002\/[^{}]*$/],
    ['production', livePage, [], /^https:\/\/pay\.shop\.example\/[^{}]*$/],
  ] as const)('of %s are commands that a shell reads as they are meant', (_, { body }, authority, url) => {
    const blocks = [...body.matchAll(/<pre tabindex="0"><code>(curl.*?)<\/code>/gs)].map(([, code]) =>
      unescaped(code!),
    );
    expect(blocks.length).toBeGreaterThan(routes.length - 1);
    const env = { FLORIN_KEY: 'sk_test_1', FLORIN_CA: 'ca.pem' };
    for (const block of blocks) {
      const script = `curl() { printf '%s\\0' "$@"; }\n${block}`;
      const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0');
      const start = words[0] === '-X' ? 2 : 0;
      expect(words.slice(start, start + authority.length + 1)).toEqual([...authority, expect.stringMatching(url)]);
      const at = words.indexOf('-d');
      if (at !== -1) expect(Object.keys(JSON.parse(words[at + 1]!) as object)).not.toEqual([]);
    }
  });

  test('verify what is really sent, and nothing else', async () => {
    const { verify } = (await import(`data:text/javascript,${encodeURIComponent(verification)}`)) as {
      verify(body: Buffer, headers: object, secret: string): boolean;
    };
    const [old, fresh, other] = [1, 2, 3].map(byte => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
      string,
      string,
      string,
    ];
    const body = Buffer.from('{"id":"evt_1"}');
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const headers = signWebhook({ secrets: [old, fresh], id: 'evt_1', timestampSeconds, body });
    expect([old, fresh, other].map(secret => verify(body, headers, secret))).toEqual([true, true, false]);
    expect(verify(Buffer.from('{"id":"evt_2"}'), headers, old)).toBe(false);
    expect(verify(body, {}, old)).toBe(false);
    const stale = signWebhook({ secrets: [old], id: 'evt_1', timestampSeconds: timestampSeconds - 3_600, body });
    expect(verify(body, stale, old)).toBe(false);
  });
});

describe('colours', () => {
  const schemes = [...page.body.matchAll(/:root \{(.*?)\}/gs)].map(([, block]) =>
    Object.fromEntries([...block!.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!])),
  );
  const luminance = (colour: string): number => {
    const [red, green, blue] = [1, 3, 5].map(at => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string): number => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
    return (light + 0.05) / (dark + 0.05);
  };
  const onPage = ['ink', 'muted', 'link', 'delete-ink'].map(ink => [ink, 'page']);
  const onPanel = ['ink', 'muted', 'link', 'key', 'text', 'value'].map(ink => [ink, 'panel']);
  const onTarget = ['ink', 'muted'].map(ink => [ink, 'patch']);
  const badges = ['get', 'post', 'patch', 'delete'].map(name => [`${name}-ink`, name]);

  test.each([...onPage, ...onPanel, ...onTarget, ...badges])('%s on %s is readable, light and dark', (ink, ground) => {
    expect(schemes).toHaveLength(2);
    for (const scheme of schemes) expect(contrast(scheme[ink!]!, scheme[ground!]!)).toBeGreaterThanOrEqual(4.5);
  });
});
