import { openAdmin, openStorage } from '../../../src/cli/compose.ts';
import { loadConfig } from '../../../src/cli/config.ts';
import type { Scope } from '../../../src/core/environment.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { AdminContext } from '../../../src/engine/access/accounts.ts';
import { createRecoveryLink, findPerson } from '../../../src/engine/access/recovery.ts';
import { changeSettings } from '../../../src/engine/access/settings.ts';
import { operatorActing } from '../../../src/engine/audit/acting.ts';
import { personActor } from '../../../src/engine/audit/audit.ts';
import { reviewRestore } from '../../../src/engine/chain/reviewRestore.ts';
import { perform } from '../../../src/engine/perform.ts';
import { correctLedger } from '../../../src/engine/settlement/correctLedger.ts';
import { setWallet } from '../../../src/engine/wallets/setWallet.ts';
import { putWallet } from '../../../src/engine/wallets/walletSeal.ts';
import { stopChange } from '../../../src/engine/wallets/wallets.ts';
import { openReviews, readOpenReview } from '../../../src/storage/chain/restoreReviews.ts';
import { insertLostAddresses } from '../../../src/storage/chain/restores.ts';
import { listDifferences, writeDifferences } from '../../../src/storage/settlement/differences.ts';
import { insertApproval } from '../../../src/storage/wallets/walletApprovals.ts';
import { createAuthenticator, type TestAuthenticator } from '../../support/authenticator.ts';
import type { Site } from './site.ts';

const network = 'base';
const [before, after] = ['0x00000000000000000000000000000000DeaDBeef', '0x00000000000000000000000000000000000A11cE'];
const daySeconds = 86_400;

const production = (accountId: string): Scope => ({ accountId, environment: 'production' });

/** A change of a live wallet that waits, as an owner asks for it. */
const askForWallet = async (admin: AdminContext, accountId: string, email: string): Promise<string> => {
  const person = await findPerson(admin, email);
  const scope = production(accountId);
  const actor = personActor({ personId: person.id, name: person.name, email });
  return perform(admin, { scope, actor, address: null }, null, async tx => {
    const wallet = { kind: 'forwarder', destination: after } as const;
    const put = { network, ...wallet, waitSeconds: daySeconds, requestedBy: actor.name };
    const { version, takesEffectAt } = await putWallet(admin, tx, scope, put);
    await insertApproval(tx, scope, { network, version, personId: person.id, name: actor.name });
    const detail = { ...wallet, version, takesEffectAt: takesEffectAt!.toISOString() };
    return {
      value: `${network}-${version}`,
      deed: { action: 'wallet.change_requested', subject: network, detail },
    };
  });
};

/** A restore that was declared and reviewed. */
const reviewOnce = async (admin: AdminContext, accountId: string): Promise<void> => {
  const acting = operatorActing({ accountId, environment: null });
  await perform(admin, acting, null, async tx => {
    await openReviews(tx);
    return { value: null, deed: { action: 'restore.declared', subject: null, detail: {} } };
  });
  const restoredAt = (await readOpenReview(admin.db, accountId))!;
  await perform(admin, acting, null, reviewRestore(restoredAt));
};

/** Two corrections of an unpaid address that cancel each other, so that its balance agrees. */
const correctTwice = async (admin: AdminContext, accountId: string, id: string): Promise<void> => {
  const { db } = admin;
  const scope = { accountId, environment: 'sandbox' } as const;
  const text = 'select caip2 from payments where id = $1';
  const { caip2 } = (await db.query<{ caip2: string }>({ name: '', text }, [id]))[0]!;
  for (const [amount, recorded] of [
    [2n, 0n],
    [-2n, 2n],
  ] as const) {
    await writeDifferences(db, caip2, [{ key: { ...scope, id }, contract: null, amount, recorded, blockNumber: 1 }]);
    const [difference] = await listDifferences(db, 1);
    await correctLedger(admin, { id: difference!.id, amount }, { by: 'Ada', reason: 'It was looked at.' });
  }
};

/** What merchants and operators do rarely, beside the running Florin. */
export const enrich = async (room: string, accountId: string, email: string, unpaid: string): Promise<void> => {
  const config = await loadConfig({ flags: { dataDir: room } });
  const storage = await openStorage(config, silentLog);
  try {
    const admin = await openAdmin(config, storage);
    const scope = production(accountId);
    await perform(admin, operatorActing(scope), null, setWallet(admin, network, { treasury: before }));
    const stopped = await askForWallet(admin, accountId, email);
    await perform(admin, operatorActing(scope), null, stopChange(stopped));
    await askForWallet(admin, accountId, email);
    await reviewOnce(admin, accountId);
    await createRecoveryLink(admin, email);
    await correctTwice(admin, accountId, unpaid);
    const settings = operatorActing({ accountId, environment: 'sandbox' });
    await perform(admin, settings, null, changeSettings({ accountName: 'Renamed', tolerancePercent: '1' }));
    const lost = { accountId, environment: 'sandbox', walletKind: 'forwarder', treasury: after } as const;
    await admin.db.transaction(tx =>
      insertLostAddresses(tx, admin.vault, [
        { ...lost, address: '0x52908400098527886E0F7030069857D2E4169EE7', index: 7n },
        { ...lost, address: '0x8617E340B3D01FA5F11F306F4090FD50E238070D', index: 8n },
      ]),
    );
  } finally {
    await storage.stop();
  }
};

type Headers = Record<string, string>;

const postTo =
  (dashboard: Site, headers: Headers) =>
  async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await dashboard.call('POST', `/dashboard/api${path}`, { body, headers });
    if (answer.status !== 200) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text) as Record<string, unknown>;
  };

/** A passkey for the owner whose session this is. */
export const addPasskey = async (
  dashboard: Site,
  { origin, headers, password }: { origin: string; headers: Headers; password: string },
): Promise<TestAuthenticator> => {
  const post = postTo(dashboard, headers);
  await post('/prove', { password });
  const device = createAuthenticator(origin);
  const response = device.register(await post('/me/passkeys/options', {}));
  await post('/me/passkeys', { name: 'Phone', response });
  return device;
};

/** Gets a challenge. The returned function signs in with it, which uses it up and counts the use of the passkey. */
export const askToSignIn = async (
  dashboard: Site,
  device: TestAuthenticator,
  headers: Headers,
): Promise<() => Promise<void>> => {
  const post = postTo(dashboard, headers);
  const options = await post('/sign-in/passkey/options', {});
  return async () => {
    await post('/sign-in/passkey', { response: device.authenticate(options) });
  };
};

/** Invites a member, for an owner with a recent proof. The returned function withdraws the invitation. */
export const invite = async (dashboard: Site, headers: Headers): Promise<() => Promise<void>> => {
  const { id } = await postTo(dashboard, headers)('/team/invitations', { email: 'new@shop.example', role: 'admin' });
  return async () => {
    const { status, text } = await dashboard.call('DELETE', `/dashboard/api/team/invitations/${String(id)}`, {
      headers,
    });
    if (status !== 200) throw new Error(`the invitation could not be withdrawn: ${status} ${text}`);
  };
};
