import { describe, expect, test } from 'vitest';
import { expectError, expectInvalid, ordinary, paymentCalls, startPaymentScene } from './paymentCalls.ts';

const { calls, scene } = await startPaymentScene();

/** A refused request must leave no row. */
const count = async (): Promise<number> => (await calls.list('limit=1')).json.pagination.total;

describe('required fields and types', () => {
  test.each(['amount', 'currency', 'network'])('without %s: 400 that names it', async field => {
    const { [field]: _, ...rest } = ordinary as Record<string, string>;
    const answer = await calls.create(rest);
    expectInvalid(answer, field);
    expect(answer.json.error.message).toContain(field);
  });

  test.each([
    ['amount', 25],
    ['amount', null],
    ['amount', ['25']],
    ['currency', 1],
    ['currency', null],
    ['network', 8453],
    ['network', {}],
    ['description', 5],
    ['description', null],
    ['expiresIn', '3600'],
    ['expiresIn', null],
    ['expiresIn', true],
    ['metadata', []],
    ['metadata', 'text'],
    ['metadata', null],
    ['metadata', 1],
    ['callbackUrl', 1],
    ['callbackUrl', null],
    ['redirectUrl', {}],
    ['externalId', 12],
    ['externalId', null],
  ])('%s = %j is of the wrong type: 400 that names it', async (field, value) => {
    const before = await count();
    expectInvalid(await calls.create({ ...ordinary, [field]: value }), field);
    expect(await count()).toBe(before);
  });

  test.each([
    ['amonut', { ...ordinary, amonut: '1' }],
    ['expires_in', { ...ordinary, expires_in: 60 }],
    ['status', { ...ordinary, status: 'completed' }],
    ['address', { ...ordinary, address: '0x0000000000000000000000000000000000000001' }],
    ['id', { ...ordinary, id: 'pay_00000000000000000000000000' }],
  ])('the unknown field %s: 400 that names it', async (field, body) => {
    const answer = await calls.create(body);
    expectInvalid(answer, field);
    expect(answer.json.error.message).toContain(field);
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty'])('the unknown field %s is no way in', async field => {
    const text = `{"amount":"25","currency":"USDC","network":"base","${field}":{"admin":true}}`;
    expectInvalid(await calls.create(text), field);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{"amount":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"payment"'],
    ['two values', '{} {}'],
  ])('a body that is %s: 400', async (_, body) => {
    const answer = await calls.create(body);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json.error.code).toBe('invalid_request');
  });

  test('a field given twice is refused, whatever its values', async () => {
    expectInvalid(await calls.create('{"amount":"25","amount":"1","currency":"USDC","network":"base"}'), 'amount');
  });
});

describe('expiresIn', () => {
  test.each([0, -1, 2_592_001, 1.5, 0.999, 1e21])('%d: 400', async expiresIn => {
    expectInvalid(await calls.create({ ...ordinary, expiresIn }), 'expiresIn');
  });

  test.each(['NaN', 'Infinity', '1e400', '-0'])('%s as a literal: 400', async literal => {
    const answer = await calls.create(`{"amount":"25","currency":"USDC","network":"base","expiresIn":${literal}}`);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json.error.code).toBe('invalid_request');
  });
});

describe('description', () => {
  test.each([
    ['ASCII letters', 'a'],
    ['letters of two bytes', 'ü'],
    ['characters beyond the basic plane', '🪙'],
  ])('1000 %s are kept, 1001 refused', async (_, character) => {
    expect((await calls.made({ description: character.repeat(1000) })).description).toBe(character.repeat(1000));
    expectInvalid(await calls.create({ ...ordinary, description: character.repeat(1001) }), 'description');
  });

  test('may be empty, and keeps quotes, line breaks and markup as they are', async () => {
    expect((await calls.made({ description: '' })).description).toBe('');
    const description = `"'<script>\n\t\\ \u2028`;
    expect((await calls.made({ description })).description).toBe(description);
  });

  test('with text that cannot be stored or is not Unicode is 400, never 500', async () => {
    expectInvalid(await calls.create({ ...ordinary, description: 'a\u0000b' }), 'description');
    const lone = await calls.create('{"amount":"25","currency":"USDC","network":"base","description":"\\ud800"}');
    expectInvalid(lone, 'description');
  });
});

describe.each(['callbackUrl', 'redirectUrl'])('%s', field => {
  test.each([
    'https://merchant.example/path?query=1#part',
    'https://merchant.example:8443',
    'HTTPS://Merchant.Example/Path',
    'http://localhost:3000/hook',
    'http://127.0.0.1:3000/hook',
    'http://[::1]:3000/hook',
    'https://127.0.0.1:3000/hook',
  ])('%s is kept as given', async url => {
    expect((await calls.made({ [field]: url }))[field]).toBe(url);
  });

  test.each([
    '',
    'merchant.example',
    '/relative',
    '//merchant.example/path',
    'http://merchant.example/path',
    'http://127.0.0.1.example/path',
    'ftp://merchant.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://',
    'https:merchant.example',
    'https://user:secret@merchant.example/',
    'https://user@merchant.example/',
    ' https://merchant.example/',
    'https://merchant.example/a b',
    'https://merchant.example/\n',
    'https:\\\\merchant.example',
    'https://merchant.example:99999/',
  ])('%j is refused', async url => {
    expectInvalid(await calls.create({ ...ordinary, [field]: url }), field);
  });

  test('2048 characters are kept, 2049 refused', async () => {
    const longest = `https://merchant.example/${'a'.repeat(2048 - 25)}`;
    expect(longest).toHaveLength(2048);
    expect((await calls.made({ [field]: longest }))[field]).toBe(longest);
    expectInvalid(await calls.create({ ...ordinary, [field]: `${longest}a` }), field);
  });
});

describe('currency and network', () => {
  test.each(['usdc', 'USDC', 'uSdC'])('currency %s matches and comes back in upper case', async currency => {
    expect((await calls.made({ currency })).currency).toBe('USDC');
  });

  test.each(['DOGE', '', 'US DC', 'uſdc', 'BNB'])('currency %j is not carried by the network: 400', async currency => {
    expectInvalid(await calls.create({ ...ordinary, currency }), 'currency');
  });

  test.each(['solana', '', 'Base', 'base ', 'ethereum-sepolia', '__proto__'])('network %j: 400', async network => {
    expectInvalid(await calls.create({ ...ordinary, network }), 'network');
  });

  test.each([
    ['ethereum', 'ETH'],
    ['polygon', 'POL'],
    ['base', 'ETH'],
    ['arbitrum', 'ETH'],
    ['optimism', 'ETH'],
    ['bsc', 'BNB'],
    ['avalanche', 'AVAX'],
  ])('%s takes its native %s and USDC in the sandbox', async (network, native) => {
    for (const currency of [native, 'USDC']) {
      expect(await calls.made({ network, currency })).toMatchObject({ network, currency });
    }
  });
});

describe('externalId', () => {
  test('used a second time is 409 that names the existing payment', async () => {
    const first = await calls.made({ externalId: 'order-1' });
    const second = await calls.create({ ...ordinary, amount: '30', externalId: 'order-1' });
    expectError(second, 409, 'conflict', 'externalId');
    expect(second.json.error.message).toContain(first.id);
  });

  test('is free for another account', async () => {
    await calls.made({ externalId: 'order-2' });
    const other = paymentCalls(scene, await scene.account());
    expect((await other.made({ externalId: 'order-2' })).externalId).toBe('order-2');
  });

  test('is told apart by case and white space', async () => {
    for (const externalId of ['Order-3', 'order-3', 'order-3 ']) await calls.made({ externalId });
  });

  test('taken by one of many at once leaves exactly one payment, and the others of the flight unharmed', async () => {
    const racing = Array.from({ length: 20 }, (_, i) =>
      calls.create({ ...ordinary, externalId: i % 2 === 0 ? 'order-4' : `order-4-${i}` }),
    );
    const answers = await Promise.all(racing);
    const winners = answers.filter((answer, i) => i % 2 === 0 && answer.status === 200);
    expect(winners).toHaveLength(1);
    answers.forEach((answer, i) => {
      if (i % 2 === 1) expect(answer.status, answer.text).toBe(200);
      else if (answer !== winners[0]) expectError(answer, 409, 'conflict', 'externalId');
    });
  });

  test('has 1 to 255 characters', async () => {
    expect((await calls.made({ externalId: 'x'.repeat(255) })).externalId).toHaveLength(255);
    expectInvalid(await calls.create({ ...ordinary, externalId: 'x'.repeat(256) }), 'externalId');
    expectInvalid(await calls.create({ ...ordinary, externalId: '' }), 'externalId');
  });
});
