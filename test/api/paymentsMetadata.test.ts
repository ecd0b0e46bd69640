import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { expectInvalid, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let calls: PaymentCalls;
beforeAll(async () => {
  scene = await startTestFlorin();
  calls = paymentCalls(scene, await scene.account());
});

const send = (metadata: string): Promise<Answer> =>
  calls.create(`{"amount":"25","currency":"USDC","network":"base","metadata":${metadata}}`);

/** What every answer and every event must contain, byte for byte. */
const expectKept = async (sent: string, kept = sent): Promise<void> => {
  const created = await send(sent);
  expect(created.status, created.text).toBe(200);
  const member = `"metadata":${kept},"`;
  expect(created.text).toContain(member);
  const { id } = created.json;
  expect((await calls.read(id)).text).toContain(member);
  expect((await calls.list('limit=1')).text).toContain(member);
  expect((await calls.act(id, 'cancel')).text).toContain(member);
  const events = await scene.admin.db.query<{ body: string }>(
    { name: 'test-bodies', text: 'select body from events where payment_id = $1 order by sequence' },
    [id],
  );
  expect(events.map(event => event.body.includes(member))).toEqual([true, true]);
};

describe('metadata is returned as given', () => {
  test.each([
    ['an empty object', '{}'],
    ['the order of keys, digits among them', '{"b":1,"a":2,"10":3,"9":4}'],
    ['trailing zeros of a number', '{"price":1.50}'],
    ['numbers no float can hold', '{"a":1e400,"b":123456789012345678901234567890,"c":0.1e-400}'],
    ['the spelling of exponents and minus zero', '{"a":1E+2,"b":-0,"c":1.0e0}'],
    ['escapes as they were written', '{"a":"\\u00e9","b":"\\/","c":"\\u0041\\n"}'],
    ['the same letter unescaped', '{"a":"é"}'],
    ['an escaped surrogate pair', '{"a":"\\ud83e\\ude99"}'],
    ['an escaped zero character', '{"a":"\\u0000"}'],
    ['a __proto__ key', '{"__proto__":{"admin":true},"constructor":1}'],
    ['an empty key', '{"":""}'],
    ['a key spelt with escapes', '{"\\u0061":1}'],
    ['what looks like another member', '{"metadata":{"a":"\\"metadata\\":1"}}'],
    ['literals and nesting', '{"a":[true,false,null,[],{}]}'],
  ])('%s', (_, source) => expectKept(source));

  test('white space between tokens aside, and that inside strings kept', () =>
    expectKept('{ "a" :\n[ 1 ,\t2 ] , "b c" : " d  e " }', '{"a":[1,2],"b c":" d  e "}'));

  test('as {} when absent', async () => {
    const created = await calls.create('{"amount":"25","currency":"USDC","network":"base"}');
    expect(created.text).toContain('"metadata":{},');
  });

  test('when its own name is spelt with escapes', async () => {
    const created = await calls.create('{"amount":"25","currency":"USDC","network":"base","m\\u0065tadata":{"a":1.0}}');
    expect(created.text).toContain('"metadata":{"a":1.0},');
  });
});

describe('metadata that is refused', () => {
  test.each([
    ['the same key twice', '{"a":1,"a":1}', 'metadata.a'],
    ['the same key twice, deep down', '{"x":[{"a":1,"b":2,"a":3}]}', 'metadata.x.0.a'],
    ['the same key twice in different spellings', '{"a":1,"\\u0061":2}', 'metadata.a'],
    ['a lone surrogate', '{"a":"\\ud800"}', 'metadata.a'],
    ['a lone surrogate in a key', '{"\\udc00":1}', 'metadata'],
  ])('%s', async (_, source, param) => {
    expectInvalid(await send(source), param);
  });

  test('bytes that are not UTF-8', async () => {
    const head = Buffer.from('{"amount":"25","currency":"USDC","network":"base","metadata":{"a":"');
    expectInvalid(await calls.create(Buffer.concat([head, Buffer.from([0xff, 0x22, 0x7d, 0x7d])])));
  });
});

describe('limits of metadata', () => {
  const sized = (bytes: number, letter = 'x'): string =>
    `{"a":"${letter.repeat((bytes - 8) / Buffer.byteLength(letter))}"}`;

  test('16 KiB are kept, one byte more is refused', async () => {
    expect(Buffer.byteLength(sized(16_384))).toBe(16_384);
    await expectKept(sized(16_384));
    expectInvalid(await send(sized(16_385)), 'metadata');
  });

  test('bytes count, not characters', async () => {
    await expectKept(sized(16_384, 'é'));
    expectInvalid(await send(sized(16_386, 'é')), 'metadata');
  });

  test('white space between tokens does not count', () =>
    expectKept(`${sized(16_384).slice(0, -1)}${' '.repeat(900)}}`, sized(16_384)));

  const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
  const nestedLists = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test.each([
    ['objects', nested],
    ['lists', nestedLists],
  ])('nesting of %s: 16 deep is kept, 17 refused', async (_, make) => {
    await expectKept(make(16));
    expectInvalid(await send(make(17)), 'metadata');
  });

  test('hostile nesting is refused at once', async () => {
    const answer = await send(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(answer.status, answer.text.slice(0, 300)).toBe(400);
  });
});
