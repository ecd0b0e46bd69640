import { beforeAll, expect, test } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { expectInvalid } from './paymentCalls.ts';

let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
});

const create = (environment: Environment, url: unknown) =>
  scene.client.call('POST', '/v1/webhooks', { key: account.keys[environment], environment, body: { url } });
const total = async (environment: Environment) =>
  (await scene.client.call('GET', '/v1/webhooks', { key: account.keys[environment], environment })).json.pagination
    .total;

const nowhere = [
  'merchant.example/hooks',
  '/hooks',
  '//merchant.example/hooks',
  'https:merchant.example',
  'https://',
  'https:///hooks',
  '',
  ' https://merchant.example',
  'https://merchant.example/a b',
  'https://merchant.example/\n',
  'https:\\\\merchant.example',
  'http://merchant.example/hooks',
  'ftp://merchant.example',
  'file:///etc/passwd',
  'gopher://merchant.example',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ws://merchant.example',
  'https://user@merchant.example',
  'https://user:password@merchant.example',
  'https://@merchant.example',
  'https://merchant.example:99999',
  `https://merchant.example/${'x'.repeat(2_048)}`,
];

/** Private, special and local addresses in various spellings. */
const inside = [
  'https://10.0.0.1',
  'https://10.1',
  'https://0xa000001',
  'https://167772161',
  'https://012.0.0.1',
  'https://172.16.0.1',
  'https://172.31.255.255',
  'https://192.168.1.1',
  'https://192.168.257',
  'https://0300.0250.1.1',
  'https://169.254.169.254',
  'https://2852039166',
  'https://100.64.0.1',
  'https://0.0.0.0',
  'https://0',
  'https://224.0.0.1',
  'https://255.255.255.255',
  'https://240.0.0.1',
  'https://198.18.0.1',
  'https://192.0.2.1',
  'https://[::]',
  'https://[fe80::1]',
  'https://[fc00::1]',
  'https://[fd12:3456::1]',
  'https://[ff02::1]',
  'https://[::ffff:10.0.0.1]',
  'https://[::ffff:a00:1]',
  'https://[::ffff:169.254.169.254]',
  'https://[::10.0.0.1]',
  'https://[64:ff9b::10.0.0.1]',
  'https://[64:ff9b::7f00:1]',
  'https://[64:ff9b:1::1]',
  'https://[2002:a00:1::]',
  'https://[2001:db8::1]',
  'https://１０.0.0.1',
];

const loopback = [
  'https://127.0.0.1',
  'https://127.0.0.1:8443/hooks',
  'https://127.1',
  'https://127.255.255.254',
  'https://2130706433',
  'https://0x7f000001',
  'https://0x7f.1',
  'https://017700000001',
  'https://0177.0.0.01',
  'https://localhost',
  'https://LOCALHOST',
  'https://a.localhost',
  'https://[::1]',
  'https://[0:0:0:0:0:0:0:1]',
  'http://127.0.0.1:3000/hooks',
  'http://localhost:3000',
  'http://[::1]:3000',
];

test.each(['production', 'sandbox'] as const)('%s refuses what is no public https: address', async environment => {
  for (const url of [...nowhere, ...inside]) {
    const answer = await create(environment, url);
    expect(answer.status, `${JSON.stringify(url)} ${answer.text}`).toBe(400);
    expectInvalid(answer, 'url');
  }
  expect(await total(environment)).toBe(0);
});

test('production refuses every way to write loopback', async () => {
  for (const url of [...loopback, 'https://[::ffff:127.0.0.1]', 'https://[::ffff:7f00:1]', 'https://localhost.']) {
    const answer = await create('production', url);
    expect(answer.status, `${url} ${answer.text}`).toBe(400);
    expectInvalid(answer, 'url');
  }
  expect(await total('production')).toBe(0);
});

test('a sandbox that lives on loopback takes loopback receivers, over http: too', async () => {
  for (const url of loopback) {
    const answer = await create('sandbox', url);
    expect(answer.status, `${url} ${answer.text}`).toBe(200);
    expect(answer.json.url).toBe(url);
  }
});

test.each(['production', 'sandbox'] as const)(
  '%s takes public addresses and returns them as given',
  async environment => {
    for (const url of [
      'https://merchant.example',
      'https://merchant.example:8443/hooks?a=b&c=%20',
      'https://MERCHANT.example/Hooks',
      'https://93.184.216.34/hooks',
      'https://[2606:2800:220:1:248:1893:25c8:1946]/',
      'https://xn--bcher-kva.example/',
      `https://merchant.example/${'x'.repeat(2_048 - 'https://merchant.example/'.length)}`,
    ]) {
      const answer = await create(environment, url);
      expect(answer.status, `${url} ${answer.text}`).toBe(200);
      expect(answer.json.url).toBe(url);
    }
  },
);
