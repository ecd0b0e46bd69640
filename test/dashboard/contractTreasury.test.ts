import { createHash } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import type { UnsweptRow } from '../../src/core/api/moneyApi.ts';
import type { Slug } from '../../src/core/registry/backings.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { auditRows } from './auditRows.ts';
import { expectRefused, type MoneyScene, startMoneyScene } from './moneyScene.ts';

vi.setConfig({ testTimeout: 60_000 });

/** `arbitrum` is on a chain of its own; the other networks are on the local chain. */
let far: FarChain;
let scene: MoneyScene;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  scene = await startMoneyScene({ configFile: { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } } });
});

const accountA = '0x00000000000000000000000000000000000A11cE';
const accountB = '0x0000000000000000000000000000000000000B0b';

const setTreasury = (network: Slug, treasury: string) =>
  setWallet(scene.dashboard.scene.admin, { accountId: scene.account.id, environment: 'sandbox' }, network, {
    treasury,
  });

/** Sets the treasury and lets a payment to it be paid. Wallets are cached for half a second. */
const paidTo = async (network: Slug, treasury: string): Promise<void> => {
  await setTreasury(network, treasury);
  const { payment } = await until(
    async () => {
      const { id } = await scene.make({ network, amount: '6' });
      return scene.owner.do('GET /payments/:id', { params: { id } });
    },
    made => made.treasury === treasury,
  );
  await scene.simulate(payment.id, 'paid', 'completed');
};
const rowOf = async (network: string, treasury: string): Promise<UnsweptRow> =>
  (await scene.owner.do('GET /settlement')).unswept.find(
    row => row.network === network && row.treasury === treasury && row.currency === 'USDC',
  )!;
const plan = (network: string, treasury: string) =>
  scene.owner.call('POST /settlement/plan', { body: { network, currency: 'USDC', treasury } });
const confirm = (network: string, treasury: string) =>
  scene.owner.call('POST /settlement/confirm', { body: { network, treasury } });

const unconfirmed = (name: string): string =>
  `The treasury is a contract. An owner or admin must confirm that it is yours on ${name}.`;

/** A contract that has other code at the same address of the other chain. */
const twoFacedSafe = async (): Promise<string> => {
  const { address } = await scene.chain.deploy('PlainSender');
  await far.node.request('hardhat_setCode', address, '0x6001');
  return address;
};

test('no money goes to a treasury while a configured node cannot say whether it is a contract', async () => {
  await paidTo('base', accountA);
  far.answers(false);
  expect(await rowOf('base', accountA)).toMatchObject({
    refusal: 'Florin could not ask a node of Arbitrum One whether the treasury is a contract. Try again later.',
    isConfirmable: false,
    gas: null,
  });
  await expectRefused(plan('base', accountA), 409, 'conflict');
  far.answers(true);
  expect((await rowOf('base', accountA)).refusal).toBeNull();
  expect((await plan('base', accountA)).status).toBe(200);
});

test('other code on another chain does not block the payout address of a network, once it is confirmed', async () => {
  const safe = await twoFacedSafe();
  await paidTo('ethereum', safe);
  expect(await rowOf('ethereum', safe)).toMatchObject({ refusal: unconfirmed('Ethereum'), isConfirmable: true });
  await expectRefused(plan('ethereum', safe), 409, 'conflict');
  await scene.owner.prove();
  expect((await confirm('ethereum', safe)).json).toEqual({ done: true });
  expect(await rowOf('ethereum', safe)).toMatchObject({ refusal: null, isConfirmable: false });
  expect((await plan('ethereum', safe)).status).toBe(200);
});

test('a contract that was replaced is confirmed after a proof, and its money can be swept', async () => {
  const { address: safe } = await scene.chain.deploy('PlainSender');
  await paidTo('polygon', safe);
  const { version } = (await scene.owner.do('GET /wallets')).data.find(each => each.network === 'polygon') as {
    version: number;
  };
  await setTreasury('polygon', accountB);
  expect(await rowOf('polygon', safe)).toMatchObject({ refusal: unconfirmed('Polygon'), isConfirmable: true });
  await scene.owner.unprove();
  await expectRefused(confirm('polygon', safe), 403, 'permission_denied', 'proof');
  await scene.owner.prove();
  // On this network only, and only what ever was a payout address there.
  await expectRefused(confirm('optimism', safe), 404, 'not_found');
  await expectRefused(confirm('polygon', '0x00000000000000000000000000000000DeaDBeef'), 404, 'not_found');
  expect((await rowOf('polygon', safe)).isConfirmable).toBe(true);
  const verified = async () =>
    (await auditRows(scene.dashboard.scene, scene.account.id)).filter(
      ({ action, subject }) => action === 'wallet.verified' && subject === 'polygon',
    );
  for (let n = 0; n < 2; n++) expect((await confirm('polygon', safe)).json).toEqual({ done: true });
  expect(await verified()).toMatchObject([{ detail: { version, destination: safe } }]);
  expect((await rowOf('polygon', safe)).refusal).toBeNull();
  expect((await plan('polygon', safe)).status).toBe(200);
});

test('a replaced contract with different code names both networks until it is confirmed', async () => {
  const safe = await twoFacedSafe();
  await paidTo('optimism', safe);
  await setTreasury('optimism', accountB);
  expect(await rowOf('optimism', safe)).toMatchObject({
    refusal: 'The treasury has different code on OP Mainnet and Arbitrum One. Ask your operator to compare them.',
    isConfirmable: true,
  });
  await expectRefused(plan('optimism', safe), 409, 'conflict');
  await scene.owner.prove();
  await confirm('optimism', safe);
  expect((await rowOf('optimism', safe)).refusal).toBeNull();
});

test('a verification without a proof does not count for a contract, and a confirmation counts for its code', async () => {
  const { address: safe } = await scene.chain.deploy('PlainSender');
  await paidTo('avalanche', safe);
  const { version } = (await scene.owner.do('GET /wallets')).data.find(each => each.network === 'avalanche') as {
    version: number;
  };
  await scene.owner.unprove();
  await scene.owner.do('POST /wallets/:network/verify', { params: { network: 'avalanche' }, body: { version } });
  expect(await rowOf('avalanche', safe)).toMatchObject({
    refusal: unconfirmed('Avalanche C-Chain'),
    isConfirmable: true,
  });
  await expectRefused(plan('avalanche', safe), 409, 'conflict');
  await scene.owner.prove();
  expect((await confirm('avalanche', safe)).json).toEqual({ done: true });
  expect((await rowOf('avalanche', safe)).refusal).toBeNull();
  const confirmed = await scene.dashboard.scene.admin.db.query<{ hash: string }>({
    name: '',
    text: `select code_hash as hash from treasury_confirmations where treasury = '${safe}'`,
  });
  const code = await scene.chain.request<string>('eth_getCode', safe, 'latest');
  expect(confirmed).toEqual([{ hash: createHash('sha256').update(code).digest('hex') }]);
});

test('an account with a key needs no confirmation, and takes none', async () => {
  await paidTo('bsc', accountB);
  await scene.owner.prove();
  await expectRefused(confirm('bsc', accountB), 409, 'conflict');
});
