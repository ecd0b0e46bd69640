import { beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '../../src/core/environment.ts';
import { makeSettings } from '../support/operator.ts';
import { type CheckoutScene, startCheckoutScene } from './checkoutScene.ts';
import { paymentCalls } from './paymentCalls.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene();
});

const setContact = async (scope: Scope, supportContact: string | null): Promise<string | null> =>
  (await makeSettings(scene.florin.admin, scope, { supportContact })).supportContact;

const newAccount = async () => {
  const own = await scene.florin.account();
  return {
    key: own.keys.sandbox,
    calls: paymentCalls(scene.florin, own),
    scope: { accountId: own.id, environment: 'sandbox' } as const,
  };
};

const stored = async (accountId: string): Promise<unknown[]> => {
  const text = `select support_contact as contact from account_settings where account_id = $1 order by environment`;
  return (await scene.florin.admin.db.query({ name: '', text }, [accountId])).map(({ contact }) => contact);
};

/** Writes directly to the database, past the checks of the code. */
const write = (accountId: string, contact: string): Promise<unknown> => {
  const text = `update account_settings set support_contact = $2 where account_id = $1`;
  return scene.florin.admin.db.query({ name: '', text }, [accountId, contact]);
};

describe('a contact', () => {
  test('is shown from the moment it is named, also by pages that are open, until it is taken back', async () => {
    const { key, calls, scope } = await newAccount();
    const { id } = await calls.made();
    const live = await scene.live(id);
    const sending = { key, body: { outcome: 'wrong_token' } };
    await scene.florin.client.call('POST', `/v1/sandbox/payments/${id}/simulate`, sending);
    const { id: before } = await live.until(({ data }) => data.includes('class="notice bad"'));
    expect((await scene.get(id)).text).not.toContain('class="contact"');
    await setContact(scope, 'Help@ACME.example');
    const shown = await live.until(({ data }) => data.includes('class="contact"'));
    expect(shown.id).not.toBe(before);
    expect(shown.data).toContain(`href="mailto:Help@acme.example?subject=Payment%20ID%3A%20${id}"`);
    for (const path of [id, `${id}/main`]) expect((await scene.get(path)).text).toContain('mailto:Help@acme.example');
    await setContact(scope, null);
    await live.until(() => live.events.at(-1)!.id === before);
    expect(live.events.at(-1)!.data).not.toContain('mailto:');
    live.close();
  });

  test('is one of an account and an environment', async () => {
    const [own, other] = [await newAccount(), await newAccount()];
    await setContact({ ...own.scope, environment: 'production' }, 'https://acme.example/help');
    await setContact(own.scope, 'test@acme.example');
    expect((await stored(own.scope.accountId)).sort()).toEqual(['https://acme.example/help', 'test@acme.example']);
    expect(await stored(other.scope.accountId)).toEqual([null, null]);
  });

  test('is set together with origins, or neither is', async () => {
    const { scope } = await newAccount();
    const { admin } = scene.florin;
    const both = { checkoutOrigins: ['https://shop.example'], supportContact: 'help@acme.example' };
    expect(await makeSettings(admin, scope, both)).toMatchObject(both);
    const bad = { checkoutOrigins: ['https://other.example'], supportContact: 'nobody' };
    await expect(makeSettings(admin, scope, bad)).rejects.toMatchObject({ code: 'invalid_request' });
    const text = `select checkout_origins as origins from account_settings where account_id = $1 and environment = 'sandbox'`;
    expect(await admin.db.query({ name: '', text }, [scope.accountId])).toEqual([
      { origins: ['https://shop.example'] },
    ]);
    expect(await setContact(scope, null)).toBeNull();
    expect(await stored(scope.accountId)).toEqual([null, null]);
  });

  test('of an account that is not there is refused', async () => {
    const scope = { accountId: `acct_${'0'.repeat(26)}`, environment: 'sandbox' } as const;
    await expect(setContact(scope, null)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test.each([
  '',
  'help',
  'help@',
  '@acme.example',
  'help@acme',
  'help@@acme.example',
  'help@acme.example.',
  'help@-acme.example',
  'help@127.0.0.1',
  'help@[::1]',
  'help.@acme.example',
  'he..lp@acme.example',
  'he lp@acme.example',
  'help@acme.example\n',
  'help@acme.example?cc=evil@evil.example',
  'help%40evil.example@acme.example',
  'a@acme.example,b@acme.example',
  '"help"@acme.example',
  'Acme <help@acme.example>',
  'mailto:help@acme.example',
  'http://acme.example/help',
  'HTTP://acme.example/help',
  'https:',
  'https://',
  'https:acme.example',
  '//acme.example',
  'acme.example/help',
  'https://user@acme.example/',
  'https://user:secret@acme.example/',
  'https://acme.example./',
  'https://a_b.example/',
  'https://*.acme.example/',
  'javascript:alert(1)',
  'javascript://acme.example/%0aalert(1)',
  ' javascript:alert(1)//@acme.example',
  'data:text/html,<script>alert(1)</script>',
  'tel:+49301234567',
  `${'a'.repeat(290)}@acme.example`,
  `https://acme.example/${'a'.repeat(280)}`,
])('what is no contact is refused, by the code and by the database: %j', async contact => {
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  await expect(setContact(scope, contact)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/ is not a contact\. Write an e-mail address, or https:\/\//),
  });
  await expect(write(scope.accountId, contact)).rejects.toMatchObject({ code: '23514' });
});

test.each([
  'https://acme.example/a b',
  'https://acme.example/"x"',
  'https://acme.example/<b>',
  'https://acme.example/ü',
])('what is not written as browsers write it reaches no row by itself: %s', async contact => {
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  expect(await setContact(scope, contact)).toBe(new URL(contact).href);
  await expect(write(scope.accountId, contact)).rejects.toMatchObject({ code: '23514' });
});

test.each([
  ['help@acme.example', 'help@acme.example'],
  ['Help.Desk+pay_2@Shop.ACME.example', 'Help.Desk+pay_2@shop.acme.example'],
  ['hilfe@münchen.example', 'hilfe@xn--mnchen-3ya.example'],
  ['https://ACME.example', 'https://acme.example/'],
  ['HTTPS://acme.example:443/help', 'https://acme.example/help'],
  ['https://acme.example:8443/help?a=1&b=%20#top', 'https://acme.example:8443/help?a=1&b=%20#top'],
  ['https://[2001:DB8::1]/', 'https://[2001:db8::1]/'],
  [`https://acme.example/${'a'.repeat(279)}`, `https://acme.example/${'a'.repeat(279)}`],
  [`${'a'.repeat(287)}@acme.example`, `${'a'.repeat(287)}@acme.example`],
])('what is one is taken by both, as browsers write it: %s', async (given, written) => {
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  expect(await setContact(scope, given)).toBe(written);
  expect(await stored(scope.accountId)).toContain(written);
});
