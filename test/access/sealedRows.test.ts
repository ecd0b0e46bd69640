import { expect, test } from 'vitest';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { removePerson } from '../../src/engine/access/removePerson.ts';
import { verifySeals } from '../../src/engine/seals/verifySeals.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { startDashboard, testPassword } from '../support/dashboard.ts';
import { addTotp } from '../support/secondFactor.ts';

const tables = ['accounts', 'account_settings', 'api_keys', 'people', 'passkeys', 'memberships', 'sessions'];
const ofAccess = new RegExp(`^(?:${[...tables, 'access_links', 'recovery_links'].join('|')}) `);

test('whatever Florin writes about accounts, keys and people matches its seal', async () => {
  const { scene, url, as, newPerson, stranger } = await startDashboard();
  const owner = await as('owner');
  await owner.prove();
  await owner.do('PATCH /settings', { environment: 'sandbox', body: { accountName: 'Shop', tolerancePercent: '1' } });

  const body = { name: 'Key', scopes: ['payments:read'], ipAllow: ['10.0.0.0/8'] };
  const [first, second] = [
    await owner.do('POST /keys', { environment: 'sandbox', body }),
    await owner.do('POST /keys', { environment: 'sandbox', body }),
  ];
  await owner.do('POST /keys/:id/rotate', {
    environment: 'sandbox',
    params: { id: first.id },
    body: { overlap: '1h' },
  });
  await owner.do('POST /keys/:id/revoke', { environment: 'sandbox', params: { id: second.id } });

  const device = createAuthenticator(url);
  const response = device.register(await owner.do('POST /me/passkeys/options'));
  await owner.do('POST /me/passkeys', { body: { name: 'Phone', response } });
  const { recoveryCodes } = await addTotp(owner);
  const client = stranger();
  await client.do('POST /sign-in', { body: { email: owner.email, password: testPassword, code: recoveryCodes[0]! } });
  const options = await client.do('POST /prove/passkey/options');
  await client.do('POST /prove', { body: { response: device.authenticate(options) } });
  await client.do('PATCH /me', { body: { name: 'Ada' } });

  const invitation = { email: 'new@shop.example', role: 'viewer' } as const;
  const { link } = await client.do('POST /team/invitations', { body: invitation });
  const join = { token: link.split('#')[1]!, name: 'New', password: testPassword };
  const made = await stranger().do('POST /invitation', { body: join });
  await client.do('PATCH /team/:id', { params: { id: made.person.id }, body: { role: 'developer' } });
  const [gone, removed] = [await newPerson('admin'), await newPerson('support')];
  await client.do('DELETE /team/:id', { params: { id: gone.personId } });
  await removePerson(scene.admin, removed.email, { accountId: null, keys: undefined, evenLastOwner: false });

  const alone = await newPerson('owner', (await scene.account()).id);
  const { token } = await createRecoveryLink(scene.admin, alone.email);
  await stranger().do('POST /recovery', { body: { token, password: 'a new quiet river' } });

  const { problems, checked } = await verifySeals(scene.admin);
  expect(problems.filter(problem => ofAccess.test(problem))).toEqual([]);
  expect(checked).toBeGreaterThan(20);
});
