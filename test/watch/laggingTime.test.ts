import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { expect, test } from 'vitest';
import { paymentCalls } from '../api/paymentCalls.ts';
import { setWallet } from '../support/operator.ts';
import { eventually, until } from '../support/until.ts';
import { startFarChain } from './farChain.ts';
import { startWatchScene } from './watchScene.ts';

/** After an outage, a rollup makes up for the blocks of that time: their timestamps lag behind by as much. */
const behindSeconds = 1_200;

test.each([
  ['tokens', { currency: 'USDC', amount: '25' }],
  ['native coin', { currency: 'ETH', amount: '0.01' }],
] as const)('%s in a block whose timestamp lags count at an address of an extended public key', async (_, terms) => {
  const far = await startFarChain('base', behindSeconds);
  await far.placeToken('USDC', 6);
  const scene = await startWatchScene({ configFile: { networks: { sandbox: { base: { rpcUrls: [far.url] } } } } });
  const xpub = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey;
  const account = await scene.florin.account();
  await setWallet(scene.florin.admin, { accountId: account.id, environment: 'sandbox' }, 'base', { xpub });
  const calls = paymentCalls(scene.florin, account);
  await far.chain.mine();
  await eventually(async () => {
    const { json } = await scene.florin.client.call('GET', '/v1/networks/base');
    expect(json).toMatchObject({ status: 'degraded' });
  });
  const created = await calls.made({ network: 'base', ...terms });
  const { transactionHash } =
    terms.currency === 'USDC'
      ? await far.chain.payToken(far.token('USDC'), created.address, 25_000_000n)
      : await far.chain.payCoin(created.address, 10n ** 16n);
  await far.chain.mine(3);
  const paid = await until(
    async () => (await calls.read(created.id)).json,
    ({ transactions }) => transactions.length > 0,
  );
  expect(paid.transactions).toMatchObject([{ hash: transactionHash }]);
});
