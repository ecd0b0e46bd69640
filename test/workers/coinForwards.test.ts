import { concat, type Hex, keccak256, pad, toHex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { createExpiryReader } from '../../src/workers/expiryReader.ts';
import { createVerifier } from '../../src/workers/verifier.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import { byContract } from '../chains/sentByContract.ts';
import { coin, startCoinScene } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const forwarded = keccak256(toHex('Forwarded(address,address,uint256)'));
const honest = (upstream: Upstream): Upstream => upstream;

test('what one node alone says was forwarded is not credited', async () => {
  let forwarder: Hex | null = null;
  const forging =
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const [filter] = params as [{ blockHash?: Hex } | undefined];
      if (method !== 'eth_getLogs' || forwarder === null || filter?.blockHash === undefined) {
        return upstream(method, params);
      }
      const log = {
        address: forwarderFactory,
        topics: [forwarded, pad(forwarder), pad('0x0', { size: 32 })],
        data: toHex(1_000n, { size: 32 }),
        logIndex: '0x0',
        transactionHash: pad('0x1', { size: 32 }),
        blockHash: filter.blockHash,
        blockNumber: '0x1',
      };
      return { result: [log] };
    };
  const { chain, payments, turn, transfers } = await startCoinScene(quiet, { nodes: [forging, honest] });
  const [payment] = await payments(1);
  await chain.mine(20);
  await turn();
  forwarder = payment!.address.toLowerCase() as Hex;
  await chain.mine(1);
  await turn();
  forwarder = null;
  await chain.mine(1);
  await turn();
  expect(await transfers(payment!)).toEqual([]);
});

test('what another node could not tell of at once is credited when its block is read again', async () => {
  let isBehind = true;
  const lagging =
    (upstream: Upstream): Upstream =>
    (method, params) =>
      isBehind && /^eth_getTransaction/.test(method) ? Promise.resolve({ result: null }) : upstream(method, params);
  const scene = await startCoinScene(quiet, { nodes: [honest, lagging] });
  const { chain, payments, turn, transfers, context, driver, lease, host, signal } = scene;
  const verify = createVerifier(context, driver, lease, 0);
  const [payment] = await payments(1);
  await chain.mine(20);
  await turn();
  // A contract at the factory's address that logs the same as the factory.
  const code = `0x6020602060003760006000357f${forwarded.slice(2)}60206000a3`;
  await chain.node.request('hardhat_setCode', forwarderFactory, code);
  const data = concat([pad(payment!.address as Hex), toHex(9n, { size: 32 })]);
  await chain.block({ to: forwarderFactory, data });
  const sweptAt = await chain.head();
  await turn();
  expect(await transfers(payment!)).toEqual([]);
  isBehind = false;
  await verify(host, signal);
  await chain.mine(1);
  await turn();
  expect(await transfers(payment!)).toEqual([coin(sweptAt, 9)]);
});

test('a forward that somebody wrote into the database makes no coin look missing', async () => {
  const { payment, paidAt, ...scene } = await paidCoin();
  const from = `from transfers where payment_id = '${payment.id}'`;
  await quiet.scene.tamper(`insert into forwards (caip2, key, account_id, environment, payment_id, amount, block_hash,
      block_number, canonical, verified, recorded_at)
    select caip2, 'forged', account_id, environment, payment_id, 1000, block_hash, block_number, true, true, now() ${from}`);
  await scene.chain.mine(1);
  await scene.turn();
  expect(await scene.transfers(payment)).toEqual([coin(paidAt, 7)]);
  const [told] = scene.said('records of addresses were changed in the database: run florin doctor');
  expect(told!.fields.payments).toEqual([payment.id]);
  const read = createExpiryReader({ context: scene.context, driver: scene.driver, lease: scene.lease });
  const { head } = await scene.read();
  await quiet.scene.admin.db.script(`update payments set wake_at = created_at, awaits_read = true
    where id = '${payment.id}'`);
  expect(await read(head, new Date(), scene.host, scene.signal)).toBe(false);
  const text = `select awaits_read as "awaitsRead" from payments where id = '${payment.id}'`;
  expect(await quiet.read(text)).toEqual([{ awaitsRead: true }]);
});

/** A payment that a contract paid in part. */
const paidCoin = async () => {
  const scene = await startCoinScene(quiet);
  const [payment] = (await scene.payments(10)).slice(-1);
  await scene.chain.mine(20);
  await scene.turn();
  await scene.chain.block(byContract(payment!.address, 7n));
  const paidAt = await scene.chain.head();
  await scene.turn();
  return { ...scene, payment: payment!, paidAt };
};
