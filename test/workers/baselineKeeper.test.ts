// @module-tag thorough
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { beforeAll, expect, test, vi } from 'vitest';
import { deriveXpubAddress } from '../../src/chains/evm/xpub.ts';
import type { Network } from '../../src/core/registry/networks.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { putWallet } from '../../src/engine/wallets/walletSeal.ts';
import { receivingKeys } from '../../src/storage/chain/baselines.ts';
import { stopWallet } from '../../src/storage/wallets/wallets.ts';
import { createBaselineKeeper } from '../../src/workers/baselineKeeper.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import { setWallet } from '../support/operator.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

// Each key has 150 addresses, at a millisecond each.
vi.setConfig({ testTimeout: 60_000 });

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const newKey = (): string => HDKey.fromMasterSeed(randomBytes(32)).publicExtendedKey;
const scopeOf = async () => ({ accountId: (await quiet.scene.account()).id, environment: 'sandbox' as const });

/** New accounts, each with an extended public key of its own on a network. */
const addKeys = async (network: string, count: number): Promise<string[]> => {
  const keys = Array.from({ length: count }, newKey);
  for (const xpub of keys) await setWallet(quiet.scene.admin, await scopeOf(), network, { xpub });
  return keys;
};

/** A keeper of the keys of a network, with a node that takes `answerMs` for the balances of a few keys. */
const prepare = async (slug: string, answerMs: number) => {
  let nowMs = 0;
  const slow =
    (upstream: Upstream): Upstream =>
    (method, params) => {
      if (method === 'eth_call' && (params[0] as { to?: string }).to === undefined) nowMs += answerMs;
      return upstream(method, params);
    };
  const watched = await startWatchedChain(quiet, { nodes: [slow] });
  const { context, driver, lease, signal, caip2 } = watched;
  const networks = [{ environment: 'sandbox', slug } as Network];
  const keep = createBaselineKeeper({ context, driver, lease }, networks, { now: () => nowMs });
  await watched.chain.mine(2);
  const { head, begunAt } = await watched.read();
  return {
    /** A turn of the keeper, so long after the last one that all keys are due. */
    async turn(): Promise<void> {
      nowMs += 600_000;
      await keep(head, begunAt, signal);
    },
    /** The keys whose next address has a baseline. */
    async read(keys: readonly string[]): Promise<string[]> {
      const rows = await quiet.read<{ address: string }>(
        `select address from address_baselines where caip2 = '${caip2}'`,
      );
      const known = new Set(rows.map(({ address }) => address));
      return keys.filter(key => known.has(deriveXpubAddress(key, 0)));
    },
  };
};

test('however many keys are due, one that was never read is read in the next turns', async () => {
  const keys = await addKeys('base', 7);
  const keeper = await prepare('base', 10_000);
  for (const count of [3, 6, 7]) {
    await keeper.turn();
    expect(await keeper.read(keys)).toHaveLength(count);
  }
  // Whatever its place in the order of texts, while all others are due.
  const [added] = (await addKeys('base', 1)) as [string];
  await keeper.turn();
  expect(await keeper.read([added])).toEqual([added]);
});

test('a turn reads as many keys as it has time for', async () => {
  const keys = await addKeys('polygon', 7);
  const keeper = await prepare('polygon', 0);
  await keeper.turn();
  expect(await keeper.read(keys)).toHaveLength(7);
});

test('only keys that payments can still get addresses of are read', async () => {
  const { admin } = quiet.scene;
  const scope = await scopeOf();
  const replaced = newKey();
  await setWallet(admin, scope, 'arbitrum', { xpub: replaced });
  const inForce = newKey();
  await setWallet(admin, scope, 'arbitrum', { xpub: inForce });
  const put = (destination: string) =>
    admin.db.transaction(tx =>
      putWallet(admin, tx, scope, {
        network: 'arbitrum',
        kind: 'xpub',
        destination,
        waitSeconds: 3_600,
        requestedBy: 'test',
      }),
    );
  const { version } = await put(newKey());
  await admin.db.transaction(async tx => {
    await stopWallet(tx, scope, { network: 'arbitrum', version, stoppedBy: 'test' });
    await sealRegister(admin, tx, scope.accountId);
  });
  const waiting = newKey();
  await put(waiting);
  const networks = [{ environment: 'sandbox', slug: 'arbitrum' } as const];
  expect(await receivingKeys(admin.db, networks)).toEqual([inForce, waiting].sort());
});
