// @module-tag thorough
import { createDecipheriv, scryptSync } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { networksOf } from '../../src/cli/compose.ts';
import { factoryFacts } from '../../src/cli/exportCommands.ts';
import { operatorActing } from '../../src/engine/audit/acting.ts';
import { deriveAddress } from '../../src/engine/payments/paymentAddress.ts';
import { exportRecovery } from '../../src/engine/settlement/exportRecovery.ts';
import type { LostAddress } from '../../src/storage/chain/lostAddressSeals.ts';
import { insertLostAddresses } from '../../src/storage/chain/restores.ts';
import type { RecoveryEnvelope } from '../../src/vault/recoveryEnvelope.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { startTestFlorin } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';

vi.setConfig({ testTimeout: 120_000 });

const passphrase = 'a quiet river at noon';
const treasury = '0x00000000000000000000000000000000DeaDBeef';
const replaced = '0x00000000000000000000000000000000000A11cE';
const neverSet = '0x00000000000000000000000000000000000000A1';

const sandbox = { arbitrum: { rpcUrls: ['http://127.0.0.1:1'] } };
const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api,watch' }, configFile: { networks: { sandbox } } });
const { db, vault } = scene.admin;
const account = await scene.account();
const scope = { accountId: account.id, environment: 'sandbox' } as const;

const open = ({ kdf, cipher, data }: RecoveryEnvelope) => {
  const { N, r, p, salt } = kdf;
  const key = scryptSync(passphrase, Buffer.from(salt, 'hex'), 32, { N, r, p, maxmem: 256 * N * r });
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(cipher.iv, 'hex'), { authTagLength: 16 });
  decipher.setAuthTag(Buffer.from(cipher.tag, 'hex'));
  const opened = Buffer.concat([decipher.update(data, 'base64'), decipher.final()]);
  const [header, ...lines] = gunzipSync(opened).toString('utf8').trimEnd().split('\n');
  return { header: JSON.parse(header!), lines: lines.map(line => JSON.parse(line)) };
};

const exported = async (unfundedLost?: number) => {
  const request = { passphrase, factory: factoryFacts(), networks: networksOf(scene.config, null) };
  const limit = unfundedLost === undefined ? {} : { unfundedLost };
  const { envelope, ...counts } = await exportRecovery(scene.admin, operatorActing(scope), { ...request, ...limit });
  return { counts, ...open(envelope) };
};

const lostOf = (index: bigint, more: Partial<LostAddress> = {}): LostAddress => {
  const origin = { walletKind: 'forwarder', treasury, index, ...more } as const;
  return { ...scope, ...origin, address: deriveAddress(vault, { scope, ...origin, walletKind: 'forwarder' }), ...more };
};
const saltOf = (index: bigint): string => `0x${Buffer.from(vault.salt(scope, index)).toString('hex')}`;

/** As the watcher records it. */
const fund = ({ address }: LostAddress): Promise<void> =>
  db.script(`insert into chains (caip2) values ('eip155:5') on conflict do nothing;
    insert into blocks (caip2, hash, number, parent_hash, timestamp, canonical, empty)
      values ('eip155:5', '0x01', 1, '0x00', now(), true, false) on conflict do nothing;
    insert into unclaimed_funds (caip2, key, address, amount, block_hash, block_number, canonical, verified)
      values ('eip155:5', '${address}', '${address}', 1, '0x01', 1, true, true)`);

test('look-alikes are among the tokens to look for', async () => {
  const { header } = await exported();
  const arbitrum = header.networks.find(({ network }: { network: string }) => network === 'arbitrum');
  expect(arbitrum.tokens).toContainEqual({
    symbol: 'WETH',
    contract: '0x980B62Da83eFf3D4576C647993b0c1D7faf17c73',
    decimals: 18,
  });
});

test('addresses of lost payments are exported with the chains of their treasury, the funded ones in any case', async () => {
  for (const network of ['base', 'arbitrum', 'ethereum']) await setWallet(scene.admin, scope, network, { treasury });
  // A treasury that was replaced still owns what was sent to its addresses.
  await setWallet(scene.admin, scope, 'base', { treasury: replaced });
  await setWallet(scene.admin, scope, 'base', { treasury });
  const [funded, poor, foreign] = [lostOf(1n), lostOf(2n), lostOf(3n, { treasury: neverSet })];
  const tampered = lostOf(4n, { address: '0x00000000000000000000000000000000000bAd00' });
  const others = [
    lostOf(5n, { environment: 'production' }),
    lostOf(6n, { accountId: (await scene.account()).id }),
    lostOf(7n, { walletKind: 'xpub', address: '0x0000000000000000000000000000000000000777' }),
  ];
  const payment = await paymentCalls(scene, account).made();
  await insertLostAddresses(db, vault, [funded, poor, foreign, tampered, ...others]);
  await fund(funded);
  // More addresses are watched than were lost, so that one may be a payment's by now.
  await db.script(`insert into lost_addresses (address, account_id, environment, wallet_kind, treasury, derivation_index)
    select address, account_id, environment, wallet_kind, treasury, derivation_index from payments`);
  const lineOf = ({ address, index, treasury: own }: LostAddress, chainIds: number[]) => ({
    id: `lost:${address}`,
    chainIds,
    treasury: own,
    salt: saltOf(index),
    address,
  });
  const all = await exported();
  expect(all.counts).toEqual({ payments: 1, lostAddresses: 3, leftOut: [`lost:${tampered.address}`] });
  expect(all.lines[0]).toMatchObject({ id: payment.id, chainId: 31337 });
  const lost = all.lines.slice(1).map(({ chainIds, ...line }) => ({ ...line, chainIds: chainIds.toSorted() }));
  expect(lost[0]).toEqual(lineOf(funded, [31337, 421614]));
  expect(lost).toContainEqual(lineOf(poor, [31337, 421614]));
  expect(lost).toContainEqual(lineOf(foreign, []));
  expect(lost).toHaveLength(3);

  expect((await exported(0)).lines.slice(1).map(({ id }) => id)).toEqual([`lost:${funded.address}`]);
  expect((await exported(1)).lines).toHaveLength(3);
});
