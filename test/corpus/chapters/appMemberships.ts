import { createRecoveryLink } from '../../../src/engine/access/recovery.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { testPassword } from '../../support/dashboard.ts';
import type { Corpus } from '../corpusScene.ts';

const unknown = { token: 'x'.repeat(43) };

/** A person who joins a second account with the sign-in of the first, by password and by passkey. */
const joinSecond = async (corpus: Corpus): Promise<void> => {
  const { dashboard, florin, recorder } = corpus;
  const app = corpus.appDoor('memberships');
  const { id: accountId } = await florin.account({ name: 'Second' });
  const owner = await dashboard.newPerson('owner', accountId);
  await owner.prove();
  const person = await dashboard.newPerson('developer');
  await person.prove();
  const device = createAuthenticator(dashboard.url);
  recorder.masks.name(device.credentialId.toString('base64url'), '<credential>');
  const response = device.register(await person.do('POST /me/passkeys/options'));
  await person.do('POST /me/passkeys', { body: { name: 'Laptop', response } });
  const invite = async (role: string): Promise<string> => {
    const { link } = await owner.do('POST /team/invitations', { body: { email: person.email, role } });
    return link.split('#')[1]!;
  };
  const token = await invite('developer');
  const client = dashboard.stranger();
  const join = (name: string, body: unknown) => app(client, `join: ${name}`, 'POST /invitation/sign-in', { body });
  await app(client, 'join: a new sign-in', 'POST /invitation', { body: { token, name: 'B', password: testPassword } });
  await join('unknown link', { ...unknown, password: testPassword });
  await join('a wrong password', { token, password: 'wrong horse battery' });
  await join('right', { token, password: testPassword });
  await join('used', { token, password: testPassword });
  const open = (name: string, accountId: unknown) =>
    app(client, `open: ${name}`, 'POST /session/account', { body: { accountId } });
  await open('the first account', dashboard.accountId);
  await open('the second account', accountId);
  await open('an unknown account', `acct_${'0'.repeat(26)}`);
  await open('no id', 1);
  await client.prove();
  await person.prove();
  await app(client, 'make a key', 'POST /keys', { body: { name: 'Till', scopes: ['payments:read'] } });
  const id = person.personId;
  await app(owner, 'keys of a member', `GET /team/${id}/keys`);
  await app(client, 'keys of a member: developer', `GET /team/${id}/keys`);
  await app(owner, 'remove: keys undecided', `DELETE /team/${id}`);
  await app(owner, 'remove: keys unknown', `DELETE /team/${id}?keys=lose`);
  await app(owner, 'remove: keys revoked', `DELETE /team/${id}?keys=revoke`);
  await app(client, 'session after the removal', 'GET /session');
  const again = await invite('viewer');
  const passkey = async (name: string, body: object) => {
    const answer = device.authenticate(await client.do('POST /sign-in/passkey/options'));
    await app(client, `join by passkey: ${name}`, 'POST /invitation/sign-in/passkey', {
      body: { ...body, response: answer },
    });
  };
  await passkey('unknown link', unknown);
  await passkey('right', { token: again });
  await app(client, 'create: blank', 'POST /accounts', { body: { name: ' ' } });
  await app(client, 'create', 'POST /accounts', { body: { name: 'Third' } });
};

const recover = async (corpus: Corpus): Promise<void> => {
  const { dashboard, florin } = corpus;
  const app = corpus.appDoor('recovery');
  const { id } = await florin.account({ name: 'Recovered' });
  const owner = await dashboard.newPerson('owner', id);
  const { token } = await createRecoveryLink(florin.admin, owner.email);
  const client = dashboard.stranger();
  await app(owner, 'announced', 'GET /announcements');
  await app(client, 'request: no sign-in', 'POST /recovery/request', { body: { email: 'nobody@example.com' } });
  await app(client, 'request', 'POST /recovery/request', { body: { email: owner.email } });
  await app(owner, 'test mail', 'POST /mail/test');
  await app(client, 'check: unknown', 'POST /recovery/check', { body: unknown });
  await app(client, 'check', 'POST /recovery/check', { body: { token } });
  await app(client, 'unknown', 'POST /recovery', { body: { ...unknown, password: testPassword } });
  await app(client, 'a short password', 'POST /recovery', { body: { token, password: 'short' } });
  await app(client, 'right', 'POST /recovery', { body: { token, password: 'a new river at noon' } });
  await app(client, 'used', 'POST /recovery', { body: { token, password: 'a new river at noon' } });
};

/** One person in several accounts, what becomes of a former member's keys, and links that set a new password. */
export const appMemberships = async (corpus: Corpus): Promise<void> => {
  await joinSecond(corpus);
  await recover(corpus);
};
