import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signWebhook } from '../../src/webhooks/sign.ts';

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

describe('signWebhook', () => {
  test('is accepted by an independent verifier, whatever the body', () => {
    const body = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array().map(bytes => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(body, payload => {
        const secret = newSecret();
        const headers = signWebhook({ secrets: [secret], id: 'evt_1', timestampSeconds: nowSeconds(), body: payload });
        const text = Buffer.from(payload).toString('utf8');
        // The verifier works on text; bytes that are not UTF-8 cannot be shown to it.
        fc.pre(Buffer.from(text).equals(Buffer.from(payload)));
        new Webhook(secret).verify(text, headers, { jsonParse: false });
      }),
    );
  });

  test('equals the independent signer byte for byte', () => {
    const secret = newSecret();
    const at = nowSeconds();
    const headers = signWebhook({ secrets: [secret], id: 'evt_2', timestampSeconds: at, body: '{"a":"ü"}' });
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign('evt_2', new Date(at * 1000), '{"a":"ü"}'));
    expect(headers['webhook-id']).toBe('evt_2');
    expect(headers['webhook-timestamp']).toBe(String(at));
  });

  test('lets both the old and the new secret verify during a rotation', () => {
    const [old, fresh] = [newSecret(), newSecret()];
    const headers = signWebhook({ secrets: [fresh, old], id: 'evt_3', timestampSeconds: nowSeconds(), body: '{}' });
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    for (const secret of [old, fresh]) expect(new Webhook(secret).verify('{}', headers)).toEqual({});
    expect(() => new Webhook(newSecret()).verify('{}', headers)).toThrow();
  });

  test('signs each time with the secret it is given, seen before or not', () => {
    const secrets = [newSecret(), newSecret(), newSecret()];
    for (let round = 0; round < 3; round++) {
      for (const secret of secrets) {
        const at = nowSeconds();
        const headers = signWebhook({ secrets: [secret], id: 'evt_3', timestampSeconds: at, body: `${round}` });
        const expected = new Webhook(secret).sign('evt_3', new Date(at * 1000), `${round}`);
        expect(headers['webhook-signature']).toBe(expected);
      }
    }
  });

  test('does not verify when a byte of the body, the id or the time differs', () => {
    const secret = newSecret();
    const headers = signWebhook({ secrets: [secret], id: 'evt_4', timestampSeconds: nowSeconds(), body: '{"n":1}' });
    const verifier = new Webhook(secret);
    expect(() => verifier.verify('{"n":2}', headers)).toThrow();
    expect(() => verifier.verify('{"n":1}', { ...headers, 'webhook-id': 'evt_5' })).toThrow();
    const later = String(nowSeconds() + 1);
    expect(() => verifier.verify('{"n":1}', { ...headers, 'webhook-timestamp': later })).toThrow();
  });

  test.each([
    ['no prefix', randomBytes(32).toString('base64')],
    ['nothing after the prefix', 'whsec_'],
    ['too short', `whsec_${randomBytes(8).toString('base64')}`],
    ['too long', `whsec_${randomBytes(65).toString('base64')}`],
    ['not base64', `whsec_${'*'.repeat(44)}`],
    ['URL-safe base64', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
  ])('refuses a malformed secret (%s) without repeating it', (_, secret) => {
    const sign = () => signWebhook({ secrets: [secret], id: 'evt_1', timestampSeconds: 1, body: '' });
    expect(sign).toThrow(new Error('A webhook secret is malformed'));
  });

  test('refuses to sign without a secret, with an ambiguous id, or at no time', () => {
    const good = { secrets: [newSecret()], id: 'evt_1', timestampSeconds: 1, body: '' };
    expect(() => signWebhook({ ...good, secrets: [] })).toThrow();
    expect(() => signWebhook({ ...good, id: 'evt.1' })).toThrow();
    expect(() => signWebhook({ ...good, id: 'evt\r\nx: y' })).toThrow();
    expect(() => signWebhook({ ...good, timestampSeconds: 1.5 })).toThrow();
  });
});
