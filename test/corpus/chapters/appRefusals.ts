import type { Corpus } from '../corpusScene.ts';

/** Every call of the dashboard, with ids that do not exist. */
const calls: readonly string[] = [
  'GET /session', 'POST /setup/check', 'POST /setup', 'POST /setup/passkey/options', 'POST /invitation/check',
  'POST /invitation', 'POST /invitation/passkey/options', 'POST /sign-in', 'POST /sign-in/passkey/options',
  'POST /sign-in/passkey', 'POST /prove/passkey/options', 'POST /prove', 'GET /me/sessions',
  'DELETE /me/sessions/x', 'POST /me/sessions/end-others', 'GET /me/passkeys', 'POST /me/passkeys/options',
  'POST /me/passkeys', 'DELETE /me/passkeys/x', 'POST /me/totp/begin', 'POST /me/totp', 'DELETE /me/totp',
  'POST /me/recovery-codes', 'POST /me/password', 'PATCH /me', 'GET /team', 'POST /team/invitations',
  'DELETE /team/invitations/x', 'PATCH /team/x', 'DELETE /team/x', 'GET /audit', 'GET /networks', 'GET /home',
  'GET /go-live', 'GET /backups', 'GET /payments', 'GET /payments.csv', 'GET /payments/x', 'POST /payments', 'POST /payments/x/cancel',
  'POST /payments/x/resolve', 'POST /payments/x/simulate', 'GET /settlement', 'POST /settlement/plan',
  'POST /settlement/confirm', 'POST /settlement/sweeps', 'GET /keys', 'POST /keys', 'POST /keys/x/rotate',
  'POST /keys/x/revoke', 'GET /webhooks', 'POST /webhooks', 'GET /webhooks/x', 'PATCH /webhooks/x',
  'DELETE /webhooks/x', 'POST /webhooks/x/reveal', 'POST /webhooks/x/rotate', 'POST /webhooks/x/test',
  'POST /webhooks/x/replay', 'GET /webhooks/x/deliveries', 'GET /deliveries/x', 'POST /deliveries/x/resend',
  'GET /wallets', 'POST /wallets/preview', 'POST /wallets', 'POST /wallets/x/verify', 'POST /wallet-changes/x/stop',
  'POST /wallet-changes/x/approve', 'GET /announcements', 'GET /settings', 'PATCH /settings', 'POST /settings/callback-secret/reveal',
  'POST /restore-review', 'POST /mail/test', 'POST /recovery/request', 'POST /sign-out',
]; // biome-ignore format: one list

/** What every call of the dashboard refuses: no session, another site, a role that may not, no proof, a wrong body. */
export const appRefusals = async (corpus: Corpus): Promise<void> => {
  const { dashboard } = corpus;
  const stranger = dashboard.stranger();
  const viewer = await dashboard.as('viewer');
  const unproven = await dashboard.newPerson('owner');
  const proven = await dashboard.newPerson('owner');
  await proven.prove();
  const [signedOut, otherSite] = [corpus.appDoor('signed out'), corpus.appDoor('other site')];
  const [asViewer, asOwner] = [corpus.appDoor('viewer'), corpus.appDoor('no proof, unknown environment')];
  const asProven = corpus.appDoor('unknown field');
  for (const call of calls) {
    const body = call.startsWith('GET') || call.startsWith('DELETE') ? {} : { body: { nonsense: true } };
    await signedOut(stranger, call, call, body);
    await otherSite(proven, call, call, {
      ...body,
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    });
    if (call === 'POST /sign-out' || call === 'GET /session') continue;
    // Calls for one's own account write, whoever asks.
    const isOwn = / \/me\//.test(call) || / \/prove/.test(call);
    if (!isOwn && !call.startsWith('GET')) await asViewer(viewer, call, call, body);
    await asOwner(unproven, call, `${call}?environment=moon`, body);
    // Without a body of its own, this call would answer with a new secret.
    if (!call.startsWith('GET') && call !== 'POST /me/totp/begin')
      await asProven(proven, call, call, { body: { nonsense: true } });
  }
};
