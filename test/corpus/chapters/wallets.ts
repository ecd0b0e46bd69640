import type { DashboardClient } from '../../support/dashboard.ts';
import { type AskAs, type Corpus, fixedAddresses } from '../corpusScene.ts';

const { treasury, otherTreasury, zero } = fixedAddresses;
/** Of a seed that is used nowhere else. */
const xpub =
  'xpub6BoEDpUcHjhQMXrddso4a6rPe8XGAhebmv6udy3JBgF7X1mcfuWMJABQNHaqWRoRkQqQtjd3PdkVU912SjXXqpJ39CG2HNLzoe9XmauWTXj';

const refusedWallets: readonly (readonly [string, unknown])[] = [
  ['no network', { treasury }],
  ['an unknown network', { network: 'mars', treasury }],
  ['no destination', { network: 'ethereum' }],
  ['two destinations', { network: 'ethereum', treasury, xpub }],
  ['no address', { network: 'ethereum', treasury: 'my wallet' }],
  ['a wrong checksum', { network: 'ethereum', treasury: treasury.replace('DeaD', 'dEad') }],
  ['the zero address', { network: 'ethereum', treasury: zero }],
  ['no extended key', { network: 'ethereum', xpub: 'xpub' }],
  ['a key with a typing error', { network: 'ethereum', xpub: `${xpub.slice(0, -1)}9` }],
  ['an unknown field', { network: 'ethereum', treasury, name: 'x' }],
  ['a number', { network: 'ethereum', treasury: 5 }],
  ['bad JSON', '{'],
];

const live = (path: string): string => `${path}?environment=production`;

const setWallets = async (app: AskAs, owner: DashboardClient): Promise<void> => {
  const body = { network: 'ethereum', treasury };
  await app(owner, 'list', live('GET /wallets'));
  await app(owner, 'set: without a proof', live('POST /wallets'), { body });
  await owner.prove();
  for (const [name, each] of refusedWallets) {
    await app(owner, `preview: ${name}`, live('POST /wallets/preview'), { body: each });
    await app(owner, `set: ${name}`, live('POST /wallets'), { body: each });
  }
  await app(owner, 'preview: a treasury', live('POST /wallets/preview'), { body });
  await app(owner, 'preview: an extended key', 'POST /wallets/preview', { body: { network: 'base', xpub } });
  await app(owner, 'set: the first', live('POST /wallets'), { body });
  await app(owner, 'set: the same again', live('POST /wallets'), { body });
  await app(owner, 'set: an extended key in the sandbox', 'POST /wallets', { body: { network: 'optimism', xpub } });
  await app(owner, 'list: sandbox', 'GET /wallets');
};

const verifyWallets = async (app: AskAs, owner: DashboardClient): Promise<void> => {
  const verify = (name: string, network: string, body: object) =>
    app(owner, `verify: ${name}`, live(`POST /wallets/${network}/verify`), { body });
  await verify('another version', 'ethereum', { version: 7 });
  await verify('no version', 'ethereum', {});
  await verify('version 0', 'ethereum', { version: 0 });
  await verify('the version', 'ethereum', { version: 1 });
  await verify('no wallet', 'base', { version: 1 });
  await verify('an unknown network', 'mars', { version: 1 });
};

const changeWallets = async ({ dashboard }: Corpus, app: AskAs, owner: DashboardClient): Promise<void> => {
  const [second, newcomer] = [await dashboard.newPerson('owner'), await dashboard.newPerson('owner')];
  await dashboard.scene.admin.db.script(`update memberships set owner_since = owner_since - interval '8 days'
    where person_id in ('${owner.personId}', '${second.personId}')`);
  const body = { network: 'ethereum', treasury: otherTreasury };
  const { json } = await app(owner, 'set: a change', live('POST /wallets'), { body });
  await app(owner, 'announcements', 'GET /announcements');
  await app(owner, 'list: a pending change', live('GET /wallets'));
  await app(owner, 'held: a new password', 'POST /me/password', { body: { password: 'a quiet river at night' } });
  const approve = live(`POST /wallet-changes/${json.pending.id}/approve`);
  await app(owner, 'approve: by who asked', approve);
  await app(second, 'approve: without a proof', approve);
  for (const person of [second, newcomer]) await person.prove();
  await app(newcomer, 'approve: by a new owner', approve);
  await app(second, 'approve', approve);
  await app(second, 'approve: unknown', live('POST /wallet-changes/mars-1/approve'));
  await app(owner, 'announcements: approved', 'GET /announcements');
  const stop = `POST /wallet-changes/${json.pending.id}/stop`;
  await app(owner, 'stop: in the sandbox', stop);
  await app(owner, 'stop', live(stop));
  await app(owner, 'stop: again', live(stop));
  await app(owner, 'stop: unknown', live('POST /wallet-changes/mars-1/stop'));
  await app(owner, 'announcements: none', 'GET /announcements');
  await app(owner, 'set: a day too early', live('POST /wallets'), { body });
};

/** Payout wallets in the dashboard. */
export const wallets = async (corpus: Corpus): Promise<void> => {
  const app = corpus.appDoor('wallets');
  const owner = await corpus.dashboard.as('owner');
  await setWallets(app, owner);
  await verifyWallets(app, owner);
  await changeWallets(corpus, app, owner);
};
