import { expect, test } from 'vitest';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { expectRefused, startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { dashboard, owner, chain } = scene;

const usdc = { network: 'base', currency: 'USDC' };
const settlement = () => owner.do('GET /settlement');
/** Without the gas price, which changes from block to block. */
const settled = async () => {
  const { unswept, sweeps } = await settlement();
  return { unswept: unswept.map(({ gas: _gas, ...row }) => row), sweeps };
};

/** Sums over the payments themselves, without totals. */
const plainlyHeld = () =>
  scene.sql<{ network: string; currency: string; treasury: string; held: string; payments: number }>(
    `select network, currency, treasury, sum(amount_confirmed - amount_forwarded)::text as held, count(*)::int as payments
      from payments where wallet_kind = 'forwarder' and amount_confirmed > amount_forwarded
      group by 1, 2, 3 order by 1, 2, 3`,
  );

test('what three payments received is planned, sent by a wallet, recorded, and seen landed', async () => {
  const paid = [];
  for (const amount of ['25', '0.000001', '12.5']) paid.push(await scene.paid({ amount }));
  const unpaid = await scene.make();
  const ids = paid.map(payment => payment.id).sort();

  const [row, ...others] = (await settlement()).unswept;
  expect(others).toEqual([]);
  expect(row).toMatchObject({ ...usdc, caip2: 'eip155:31337', chainId: 31337, amount: '37.500001', payments: 3 });
  expect(Number(row!.gas!.units)).toBeGreaterThan(100_000);
  expect(row!.gas!.nativeCurrency).toBe('ETH');
  expect(Number(row!.gas!.costNative)).toBeGreaterThan(0);
  expect(await plainlyHeld()).toEqual([{ ...usdc, treasury: row!.treasury, held: '37500001', payments: 3 }]);

  const plan = await scene.plan(usdc);
  expect(plan).toMatchObject({ amount: '37.500001', currency: 'USDC', remaining: 0 });
  const [transaction, ...more] = plan.transactions;
  expect(more).toEqual([]);
  expect(transaction).toMatchObject({ chainId: 31337, value: '0x0', payments: ids });
  expect(transaction!.payments).not.toContain(unpaid.id);

  // Sent as a wallet would send it after an EIP-1193 request.
  const [from] = await chain.request<[string]>('eth_accounts');
  const { to, data, value, gas } = transaction!;
  const sending = { from, to, data, value, gas: `0x${BigInt(gas!).toString(16)}` };
  const txHash = await chain.request<string>('eth_sendTransaction', sending);
  const sent = await owner.do('POST /settlement/sweeps', {
    body: { ...usdc, txHash, payments: transaction!.payments },
  });
  expect(sent).toMatchObject({ ...usdc, txHash, payments: 3, amount: '37.500001', by: 'Owner 1' });

  const landed = await until(settlement, ({ sweeps }) => sweeps[0]!.status === 'landed');
  expect(landed.sweeps).toEqual([{ ...sent, status: 'landed', landedAt: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  expect(landed.unswept).toEqual([]);
  expect(await plainlyHeld()).toEqual([]);
  expect(await chain.tokenBalance(row!.contractAddress!, row!.treasury)).toBe(37_500_001n);
  const asked = { body: { ...usdc, treasury: row!.treasury } };
  await expectRefused(owner.call('POST /settlement/plan', asked), 409, 'conflict');

  const again = await owner.do('POST /settlement/sweeps', { body: { ...usdc, txHash, payments: ids } });
  expect(again.id).toBe(sent.id);
  expect((await settlement()).sweeps).toHaveLength(1);
});

test('gas is not estimated again within a minute: more payments are in proportion', async () => {
  const token = { network: 'bsc', currency: 'USDC' };
  const gas = async () => {
    const { unswept } = await settlement();
    const row = unswept.find(({ network, currency }) => network === token.network && currency === token.currency);
    return { payments: row!.payments, work: Number(row!.gas!.units) - 21_000 };
  };
  await scene.paid({ ...token, amount: '5' });
  const one = await gas();
  await scene.paid({ ...token, amount: '6' });
  expect(await gas()).toEqual({ payments: 2, work: 2 * one.work });
  const { transactions } = await scene.plan(token);
  await chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
  await until(settlement, ({ unswept }) => unswept.length === 0);
});

test('only what is final and lies at forwarders is planned, by token and network', async () => {
  const half = await scene.make({ amount: '8', network: 'polygon' });
  await scene.simulate(half.id, 'underpaid', 'pending');
  const coin = await scene.paid({ amount: '0.5', currency: 'ETH' });
  const { unswept } = await until(settlement, ({ unswept }) => unswept.length === 2);
  expect(
    unswept.map(({ network, currency, amount, contractAddress }) => [network, currency, amount, contractAddress]),
  ).toEqual([
    ['base', 'ETH', '0.50', null],
    ['polygon', 'USDC', '4.00', expect.any(String)],
  ]);
  const plan = await scene.plan({ network: 'base', currency: 'eth' });
  expect(plan.transactions.map(({ payments }) => payments)).toEqual([[coin.id]]);
  await chain.send({ to: plan.transactions[0]!.to, data: plan.transactions[0]!.data });
  // This sweep was not recorded in the dashboard, but its funds count as swept and the timeline shows it.
  await until(settlement, ({ unswept }) => unswept.every(({ network }) => network === 'polygon'));
  const { timeline } = await owner.do('GET /payments/:id', { params: { id: coin.id } });
  expect(timeline.at(-1)).toMatchObject({ kind: 'sweep', title: '0.50 ETH was swept to the treasury.' });
  expect(await chain.coinBalance(unswept[0]!.treasury)).toBe(5n * 10n ** 17n);
});

test('a sweep that a reorg takes is sent again, not landed, and its funds are held again', async () => {
  const payment = await scene.paid({ amount: '3', currency: 'DAI' });
  const dai = { network: 'base', currency: 'DAI' };
  const { transactions } = await scene.plan(dai);
  const { transactionHash } = await chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
  const body = { ...dai, txHash: transactionHash.toUpperCase().replace('0X', '0x'), payments: [payment.id] };
  await owner.do('POST /settlement/sweeps', { body });
  const status = async () => (await settlement()).sweeps[0]!.status;
  await until(status, each => each === 'landed');
  await chain.request('florin_undo', transactionHash);
  await until(status, each => each === 'sent');
  const held = (await settlement()).unswept.find(({ currency }) => currency === 'DAI');
  expect(held).toMatchObject({ amount: '3.00', payments: 1 });
  // Somebody else sweeps the funds, so the recorded sweep can no longer succeed.
  await chain.send({ to: transactions[0]!.to, data: `${transactions[0]!.data}00` });
  await until(status, each => each === 'failed');
  expect((await settlement()).unswept.find(({ currency }) => currency === 'DAI')).toBeUndefined();
});

test('sweeps that name what is not there, or not one token, are refused and change nothing', async () => {
  const payment = await scene.paid({ amount: '2', network: 'optimism' });
  const other = await scene.paid({ amount: '2', currency: 'DAI', network: 'optimism' });
  const before = await settled();
  const token = { network: 'optimism', currency: 'USDC' };
  const txHash = `0x${'ab'.repeat(32)}`;
  const sweep = (body: object) => owner.call('POST /settlement/sweeps', { body: { ...token, txHash, ...body } });
  await expectRefused(sweep({ payments: [payment.id, other.id] }), 400, 'invalid_request', 'payments');
  await expectRefused(sweep({ payments: [`pay_${'0'.repeat(26)}`] }), 400, 'invalid_request', 'payments');
  await expectRefused(sweep({ payments: [] }), 400, 'invalid_request', 'payments');
  await expectRefused(sweep({ payments: Array(101).fill(payment.id) }), 400, 'invalid_request', 'payments');
  await expectRefused(sweep({ payments: [payment.id], txHash: '0x12' }), 400, 'invalid_request', 'txHash');
  await expectRefused(sweep({ payments: [payment.id], currency: 'NOPE' }), 400, 'invalid_request', 'currency');
  await expectRefused(sweep({ payments: [payment.id], network: 'nowhere' }), 400, 'invalid_request', 'network');
  const stranger = await dashboard.newPerson('owner', (await dashboard.scene.account()).id);
  const theirs = stranger.call('POST /settlement/sweeps', { body: { ...token, txHash, payments: [payment.id] } });
  await expectRefused(theirs, 400, 'invalid_request', 'payments');
  expect(await stranger.do('GET /settlement')).toEqual({ unswept: [], sweeps: [], unclaimed: [], differences: [] });
  expect(await settled()).toEqual(before);
});

test('a payment whose treasury was changed in the database is in no plan', async () => {
  const payment = await scene.paid({ amount: '4', network: 'arbitrum' });
  const arbitrum = { network: 'arbitrum', currency: 'USDC' };
  expect((await scene.plan(arbitrum)).transactions).toHaveLength(1);
  const thief = '0x000000000000000000000000000000000000dEaD';
  await dashboard.scene.admin.db.script(`set session_replication_role = replica;
    update payments set treasury = '${thief}' where id = '${payment.id}';
    set session_replication_role = origin`);
  expect(await owner.do('POST /settlement/plan', { body: { ...arbitrum, treasury: thief } })).toMatchObject({
    transactions: [],
    amount: '0.00',
  });
});

test('a plan is for the treasury that was asked for, and for no other', async () => {
  const token = { network: 'ethereum', currency: 'USDC' };
  const treasuryOf = async (id: string) =>
    (await scene.sql<{ treasury: string }>(`select treasury from payments where id = '${id}'`))[0]!.treasury;
  const old = await scene.paid({ amount: '5', network: 'ethereum' });
  const before = await treasuryOf(old.id);
  const treasury = '0x00000000000000000000000000000000000A11cE';
  const scope = { accountId: dashboard.accountId, environment: 'sandbox' } as const;
  await setWallet(dashboard.scene.admin, scope, 'ethereum', { treasury });
  const next = await until(
    async () => {
      const made = await scene.make({ amount: '7', network: 'ethereum' });
      return { id: made.id, treasury: await treasuryOf(made.id) };
    },
    made => made.treasury === treasury,
  );
  await scene.simulate(next.id, 'paid', 'completed');
  const plan = (asked: string) => owner.do('POST /settlement/plan', { body: { ...token, treasury: asked } });
  const shown = ({ amount, remaining, transactions }: Awaited<ReturnType<typeof plan>>) => ({
    amount,
    remaining,
    payments: transactions.map(each => each.payments),
  });
  expect(shown(await plan(before))).toEqual({ amount: '5.00', remaining: 0, payments: [[old.id]] });
  expect(shown(await plan(treasury))).toEqual({ amount: '7.00', remaining: 0, payments: [[next.id]] });
  const other = { ...token, treasury: '0x00000000000000000000000000000000DeaDBeef' };
  await expectRefused(owner.call('POST /settlement/plan', { body: other }), 409, 'conflict');
  await expectRefused(
    owner.call('POST /settlement/plan', { body: token as typeof other }),
    400,
    'invalid_request',
    'treasury',
  );
});
