import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import type { Log } from '../../src/core/log.ts';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type ChainCalls, type Contract, createChainCalls } from './chainCalls.ts';
import type { FarChain } from './farChain.ts';

export type Payment = Answer['json'];
export type LogLine = { readonly fields: Record<string, unknown>; readonly message: string };
export type EventRow = { readonly sequence: number; readonly type: string; readonly body: Payment };
export type TransferRow = {
  readonly caip2: string;
  readonly stray: boolean;
  readonly canonical: boolean;
  readonly verified: boolean;
  readonly amount: string;
  readonly tx_hash: string | null;
};
export type Origin = { readonly treasury: string; readonly salt: Uint8Array };

export const localCaip2 = 'eip155:31337';

export type WatchScene = {
  readonly florin: TestFlorin;
  readonly chain: ChainCalls;
  readonly account: TestAccount;
  readonly calls: PaymentCalls;
  readonly errors: LogLine[];
  /** All that was logged, at whatever level. */
  readonly logged: LogLine[];
  /** Address of a currency's contract as GET /networks tells it. */
  token(slug: string, symbol: string): Promise<string>;
  read(id: string): Promise<Payment>;
  /** The payment, once it has this status. */
  reach(id: string, status: string): Promise<Payment>;
  events(id: string): Promise<EventRow[]>;
  kinds(id: string): Promise<string[]>;
  transfers(id: string): Promise<TransferRow[]>;
  /** Settles once everything on the chain was read, including native coin sent by contracts. */
  processed(far?: Pick<FarChain, 'caip2' | 'chain'>): Promise<void>;
  /** Asserts that nothing on the chain so far had an effect. */
  expectUntouched(payment: Payment): Promise<void>;
  /** What sweeping the payment's address takes. */
  originOf(id: string): Promise<Origin>;
  stop(): Promise<void>;
};

/** The dev chain of a Florin that runs on this data directory. */
export const localChain = async (dataDir: string): Promise<ChainCalls> => {
  const { port } = JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return createChainCalls(<T>(method: string, ...params: unknown[]) => callRpc(url, method, params) as Promise<T>);
};

/** A whole Florin with its dev chain, an account on it, and all that a test does to a payment from outside. */
export const startWatchScene = async (options: { configFile?: object } = {}): Promise<WatchScene> => {
  const [errors, logged]: [LogLine[], LogLine[]] = [[], []];
  const note: Log['error'] = (fields, message) => void logged.push({ fields: { ...fields }, message });
  const log: Log = {
    debug: note,
    info: note,
    warn: note,
    error: (fields, message) => {
      note(fields, message);
      errors.push({ fields: { ...fields }, message });
    },
  };
  const florin = await startTestFlorin({ ...options, log });
  const { db, vault } = florin.admin;
  const account = await florin.account();
  const calls = paymentCalls(florin, account);

  const read: WatchScene['read'] = async id => (await calls.read(id)).json;
  const events: WatchScene['events'] = async id => {
    const text = `select sequence, type, body from events where payment_id = $1 order by sequence`;
    const rows = await db.query<{ sequence: number; type: string; body: string }>({ name: 'watch-events', text }, [id]);
    return rows.map(row => ({ ...row, body: JSON.parse(row.body) }));
  };
  const processed: WatchScene['processed'] = async far => {
    const nowText = `select clock_timestamp()::timestamptz(3) as now`;
    const [{ now }] = (await db.query<{ now: Date }>({ name: 'watch-now', text: nowText })) as [{ now: Date }];
    // Such a chain is read up to the time of its newest block, which counts whole seconds.
    await far?.chain.request('evm_increaseTime', 1);
    await far?.chain.mine();
    const text = `select least(caught_up_at, coins_caught_up_at) >= $2 and coins_caught_up_at is not null as done
      from chains where caip2 = $1`;
    await until(
      () => db.query<{ done: boolean }>({ name: 'watch-processed', text }, [far?.caip2 ?? localCaip2, now]),
      rows => rows[0]?.done === true,
    );
  };
  return {
    florin,
    chain: await localChain(florin.config.dataDir),
    account,
    calls,
    errors,
    logged,
    read,
    events,
    processed,
    async token(slug, symbol) {
      const { json } = await florin.client.call('GET', `/v1/networks/${slug}`);
      return json.currencies.find((currency: { symbol: string }) => currency.symbol === symbol).contractAddress;
    },
    reach: (id, status) =>
      until(
        () => read(id),
        payment => payment.status === status,
      ),
    kinds: async id => (await events(id)).map(event => event.type.replace('payment.', '')),
    transfers: id =>
      db.query<TransferRow>(
        {
          name: 'watch-transfers',
          text: `select caip2, stray, canonical, verified, amount::text, tx_hash from transfers
            where payment_id = $1 order by block_number, key`,
        },
        [id],
      ),
    async expectUntouched(payment) {
      await processed();
      expect(await read(payment.id)).toEqual(payment);
      expect((await events(payment.id)).map(event => event.type)).toEqual(['payment.created']);
    },
    async originOf(id) {
      const text = `select account_id, environment, treasury, derivation_index::text as index from payments where id = $1`;
      const [row] = await db.query<{
        account_id: string;
        environment: 'sandbox' | 'production';
        treasury: string;
        index: string;
      }>({ name: 'watch-origin', text }, [id]);
      const { account_id: accountId, environment, treasury, index } = row!;
      return { treasury, salt: vault.salt({ accountId, environment }, BigInt(index)) };
    },
    stop: () => florin.stop(),
  };
};

/** Removes the confirmations, the only fields that change with every block. */
export const withoutDepth = ({ confirmations, transactions, ...rest }: Payment): Payment => ({
  ...rest,
  transactions: transactions.map(({ confirmations: depth, ...transaction }: Payment) => transaction),
});

/** A scene with a contract that pays from its own code, and plenty of the token that most payments use. */
export const startPayerScene = async (): Promise<{ scene: WatchScene; usdc: string; payer: Contract }> => {
  const scene = await startWatchScene();
  const usdc = await scene.token('base', 'USDC');
  const payer = await scene.chain.deploy('ContractPayer');
  await scene.chain.mint(usdc, payer.address, 10n ** 15n);
  return { scene, usdc, payer };
};
