import { createHash, randomBytes } from 'node:crypto';
import { totpCode, totpStep } from '../../../src/vault/totp.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { type DashboardClient, testPassword } from '../../support/dashboard.ts';
import { bytesOf } from '../../support/secondFactor.ts';
import type { Answer } from '../../support/send.ts';
import type { AskAs, Corpus } from '../corpusScene.ts';

const signIn = async ({ dashboard, appDoor }: Corpus): Promise<void> => {
  const app = appDoor('sign in');
  const person = await dashboard.newPerson('support');
  const client = dashboard.stranger();
  const sign = (name: string, body: unknown, headers: Record<string, string> = {}) =>
    app(client, name, 'POST /sign-in', { body, headers });
  await app(client, 'nobody', 'GET /session');
  await sign('a wrong password', { email: person.email, password: 'wrong horse' });
  await sign('an unknown e-mail', { email: 'nobody@example.com', password: testPassword });
  await sign('no password', { email: person.email });
  await sign('an empty password', { email: person.email, password: '' });
  await sign('a password that is too long', { email: person.email, password: 'x'.repeat(5_000) });
  await sign('bad JSON', '{"email"');
  await sign('a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' });
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  await sign('right', { email: ` ${person.email.toUpperCase()}`, password: testPassword }, browser);
  await app(client, 'session', 'GET /session');
  await app(client, 'sessions', 'GET /me/sessions');
  await app(client, 'prove: a wrong password', 'POST /prove', { body: { password: 'wrong horse' } });
  await app(client, 'prove: nothing', 'POST /prove', { body: {} });
  await app(client, 'prove', 'POST /prove', { body: { password: testPassword } });
  await app(client, 'rename', 'PATCH /me', { body: { name: 'Änne' } });
  await app(client, 'rename: blank', 'PATCH /me', { body: { name: ' ' } });
  await app(client, 'rename: nothing', 'PATCH /me', { body: {} });
  const { json } = await app(client, 'sessions again', 'GET /me/sessions');
  const other = json.data.find((row: { isThis: boolean }) => !row.isThis).id;
  await app(client, 'end another session', `DELETE /me/sessions/${other}`);
  await app(client, 'end it again', `DELETE /me/sessions/${other}`);
  await app(client, 'end all others', 'POST /me/sessions/end-others');
  await app(person, 'an ended session', 'GET /session');
  await app(person, 'a call of an ended session', 'GET /team');
  await app(client, 'password: too short', 'POST /me/password', { body: { password: 'short' } });
  await app(client, 'password: common', 'POST /me/password', { body: { password: 'passwordpassword' } });
  await app(client, 'password', 'POST /me/password', { body: { password: 'a loud river at night' } });
  await app(client, 'sign out', 'POST /sign-out');
  await app(client, 'signed out', 'GET /session');
};

const secondFactors = async (corpus: Corpus): Promise<void> => {
  const { dashboard, recorder } = corpus;
  const app = corpus.appDoor('second factor');
  const person = await dashboard.newPerson('finance');
  await person.prove();
  await app(person, 'no recovery codes yet', 'POST /me/recovery-codes');
  const namesSecret = ({ json }: Answer): void => {
    recorder.masks.name(json.secret, '<secret>');
    recorder.masks.name(JSON.stringify(json.qr).slice(1, -1), '<picture>');
  };
  const namesCodes = ({ json }: Answer): void => {
    for (const each of json.recoveryCodes) recorder.masks.name(each, '<recovery code>');
  };
  const begun = await app(person, 'begin', 'POST /me/totp/begin', { learn: namesSecret });
  await app(person, 'a wrong code', 'POST /me/totp', { body: { code: '000000x' } });
  const secret = bytesOf(begun.json.secret);
  const step = totpStep(Date.now());
  const [code, next] = [totpCode(secret, step), totpCode(secret, step + 1n)];
  for (const each of [code, next]) recorder.masks.name(`"${each}"`, '"<code>"');
  await app(person, 'turn on', 'POST /me/totp', { body: { code }, learn: namesCodes });
  await app(person, 'begin again', 'POST /me/totp/begin');
  const client = dashboard.stranger();
  const { email } = person;
  await app(client, 'a code is needed', 'POST /sign-in', { body: { email, password: testPassword } });
  await app(client, 'signed in with a wrong code', 'POST /sign-in', {
    body: { email, password: testPassword, code: 'nothing' },
  });
  await app(client, 'signed in with a code', 'POST /sign-in', { body: { email, password: testPassword, code: next } });
  const renewed = await app(person, 'new recovery codes', 'POST /me/recovery-codes', { learn: namesCodes });
  await app(person, 'prove without a code', 'POST /prove', { body: { password: testPassword } });
  await app(person, 'prove with a recovery code', 'POST /prove', {
    body: { password: testPassword, code: renewed.json.recoveryCodes[0] },
  });
  await app(person, 'session', 'GET /session');
  await app(person, 'turn off', 'DELETE /me/totp');
  await app(person, 'turn off again', 'DELETE /me/totp');
};

const passkeys = async (corpus: Corpus): Promise<void> => {
  const { dashboard } = corpus;
  const app = corpus.appDoor('passkeys');
  const person = await dashboard.newPerson('developer');
  await person.prove();
  const device = createAuthenticator(dashboard.url);
  corpus.recorder.masks.name(device.credentialId.toString('base64url'), '<credential>');
  const { json: options } = await app(person, 'options', 'POST /me/passkeys/options');
  const response = device.register(options);
  const { json: added } = await app(person, 'add', 'POST /me/passkeys', { body: { name: 'Laptop', response } });
  await app(person, 'add: the same answer again', 'POST /me/passkeys', { body: { name: 'Laptop', response } });
  await app(person, 'add: an answer that is none', 'POST /me/passkeys', { body: { name: 'Laptop', response: {} } });
  await app(person, 'list', 'GET /me/passkeys');
  const client = dashboard.stranger();
  const asked = await app(client, 'sign in: options', 'POST /sign-in/passkey/options');
  const answer = device.authenticate(asked.json);
  await app(client, 'sign in', 'POST /sign-in/passkey', { body: { response: answer } });
  await app(client, 'sign in: the same answer again', 'POST /sign-in/passkey', { body: { response: answer } });
  await app(client, 'sign in: an answer that is none', 'POST /sign-in/passkey', { body: { response: { id: 'x' } } });
  const proving = await app(person, 'prove: options', 'POST /prove/passkey/options');
  await app(person, 'prove', 'POST /prove', { body: { response: device.authenticate(proving.json) } });
  await app(person, 'remove: unknown', `DELETE /me/passkeys/psk_${'0'.repeat(26)}`);
  await app(person, 'remove', `DELETE /me/passkeys/${added.id}`);
  await app(person, 'list: none', 'GET /me/passkeys');
};

/** A link that makes the first owner of an account, as the command line makes it. */
const setupLink = async ({ florin }: Corpus): Promise<string> => {
  const { id } = await florin.account({ name: 'Fresh' });
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest('hex');
  await florin.admin.db.script(`insert into access_links (account_id, id, token_hash, kind, role, expires_at)
    values ('${id}', 'inv_${'1'.repeat(26)}', '\\x${hash}', 'setup', 'owner', clock_timestamp() + interval '1 hour')`);
  return token;
};

const setUp = async (corpus: Corpus): Promise<void> => {
  const app = corpus.appDoor('setup');
  const token = await setupLink(corpus);
  const client = corpus.dashboard.stranger();
  const person = { token, name: 'Grace', email: 'grace@example.com' };
  await app(client, 'check', 'POST /setup/check', { body: { token } });
  await app(client, 'check: unknown', 'POST /setup/check', { body: { token: 'x' } });
  await app(client, 'check: as an invitation', 'POST /invitation/check', { body: { token } });
  await app(client, 'options', 'POST /setup/passkey/options', { body: person });
  await app(client, 'no proof', 'POST /setup', { body: person });
  await app(client, 'a short password', 'POST /setup', { body: { ...person, password: 'short' } });
  await app(client, 'no e-mail', 'POST /setup', { body: { ...person, email: 'grace', password: testPassword } });
  await app(client, 'owner', 'POST /setup', { body: { ...person, password: testPassword } });
  await app(client, 'used', 'POST /setup', { body: { ...person, password: testPassword } });
  await inviteAll(corpus, app, client);
};

const inviteAll = async (corpus: Corpus, app: AskAs, owner: DashboardClient): Promise<void> => {
  const invite = (name: string, body: unknown) => app(owner, `invite: ${name}`, 'POST /team/invitations', { body });
  await invite('without a second factor', { email: 'Ada@Example.com', role: 'admin' });
  await corpus.florin.admin.db.script(`update sessions set strongly_proven_until = proven_until
    where person_id = (select id from people where email = 'grace@example.com')`);
  const { json } = await invite('an admin', { email: 'Ada@Example.com', role: 'admin' });
  await invite('the same again', { email: 'ada@example.com', role: 'viewer' });
  await invite('a member', { email: 'grace@example.com', role: 'viewer' });
  await invite('no e-mail', { email: 'ada', role: 'viewer' });
  await invite('an unknown role', { email: 'b@example.com', role: 'king' });
  await invite('an unknown field', { email: 'b@example.com', role: 'viewer', name: 'B' });
  const second = await invite('another', { email: 'bob@example.com', role: 'finance' });
  await app(owner, 'team', 'GET /team');
  await app(owner, 'withdraw', `DELETE /team/invitations/${second.json.id}`);
  await app(owner, 'withdraw: again', `DELETE /team/invitations/${second.json.id}`);
  const fresh = await invite('ada again', { email: 'ada@example.com', role: 'support' });
  const token = (fresh.json.link ?? json.link).split('#')[1];
  const client = corpus.dashboard.stranger();
  await app(client, 'invitation', 'POST /invitation/check', { body: { token } });
  await app(client, 'invitation: options', 'POST /invitation/passkey/options', { body: { token, name: 'Ada' } });
  await app(client, 'invitation: no proof', 'POST /invitation', { body: { token, name: 'Ada' } });
  const joined = await app(client, 'invitation: accept', 'POST /invitation', {
    body: { token, name: 'Ada', password: testPassword },
  });
  await app(client, 'invitation: used', 'POST /invitation', { body: { token, name: 'Ada', password: testPassword } });
  const { id } = joined.json.person;
  const self = (await app(owner, 'session of the owner', 'GET /session')).json.person.id;
  await app(owner, 'role', `PATCH /team/${id}`, { body: { role: 'viewer' } });
  await app(owner, 'role: unknown', `PATCH /team/${id}`, { body: { role: 'king' } });
  await app(owner, 'role: of the last owner', `PATCH /team/${self}`, { body: { role: 'viewer' } });
  await app(owner, 'role: of nobody', `PATCH /team/usr_${'0'.repeat(26)}`, { body: { role: 'viewer' } });
  await app(client, 'session after a change of role', 'GET /session');
  await app(owner, 'remove', `DELETE /team/${id}`);
  await app(owner, 'remove: again', `DELETE /team/${id}`);
  await app(owner, 'remove: the last owner', `DELETE /team/${self}`);
  await app(owner, 'team: alone', 'GET /team');
  await app(owner, 'audit', 'GET /audit');
  await app(owner, 'audit: a page', 'GET /audit?limit=2&before=4');
  await app(owner, 'audit: an action', 'GET /audit?action=invitation.created');
  await app(owner, 'audit: an actor', `GET /audit?actor=${self}&limit=1`);
  for (const query of ['limit=0', 'limit=201', 'before=x', 'page=1'])
    await app(owner, `audit: ${query}`, `GET /audit?${query}`);
};

/** Signing in, second factors, passkeys, invitations, the team and the audit log. */
export const appAccount = async (corpus: Corpus): Promise<void> => {
  await signIn(corpus);
  await secondFactors(corpus);
  await passkeys(corpus);
  await setUp(corpus);
};
