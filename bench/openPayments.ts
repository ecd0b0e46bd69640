import type pg from 'pg';
import { devChainDeployments } from '../src/chains/evm/deployments.ts';
import { devTokens } from '../src/cli/compose.ts';
import { localCaip2 } from '../src/cli/watchedChains.ts';
import { createAccount } from '../src/engine/access/accounts.ts';
import type { Context } from '../src/engine/context.ts';
import { deriveAddress } from '../src/engine/payments/paymentAddress.ts';
import { sealPayment } from '../src/engine/payments/paymentSeal.ts';
import { begun } from '../src/engine/payments/sealNewPayment.ts';
import { testTreasury } from '../src/engine/wallets/treasury.ts';
import { superuserOf, withClient } from './benchDatabases.ts';
import { copyRows } from './copyRows.ts';
import { type PaymentIndex, paymentIndexes } from './paymentIndexes.ts';
import type { Scene } from './scene.ts';

/** The token and the amount of every payment. */
export const paidToken = devChainDeployments(devTokens()).tokenAddress('base', 'USDC');
export const paidAmount = 12_500_000n;

const chunkRows = 20_000;
const dayMs = 86_400_000;

const columns = `account_id, environment, id, amount, decimals, currency, network, caip2, contract, address, wallet_kind,
  treasury, derivation_index, mac, row_seal, tiers, tolerance_bps, late_policy, late_window_seconds, metadata, created_at, expires_at, wake_at`;

const createdEvents = `insert into events (account_id, environment, id, payment_id, sequence, type, status, body, created_at)
  select account_id, environment, 'evt_' || substr(id, 5), id, 1, 'payment.created', 'pending', repeat('x', 1040), created_at
  from payments`;

type Written = { readonly row: string; readonly address: string };

const pendingPayment = ({ vault, ids }: Context, accountId: string, n: number, nowMs: number): Written => {
  const scope = { accountId, environment: 'sandbox' } as const;
  const { id } = ids.next('payment', nowMs);
  const [treasury, index] = [testTreasury(accountId), BigInt(n)];
  const terms = {
    caip2: localCaip2,
    contract: paidToken,
    amount: paidAmount,
    decimals: 6,
    currency: 'USDC',
    network: 'base',
  };
  const walletKind = 'forwarder';
  const address = deriveAddress(vault, { scope, walletKind, treasury, index });
  const mac = vault.paymentMac({ ...scope, ...terms, id, walletKind, treasury, index, address });
  const [createdAt, expiresAt] = [new Date(nowMs), new Date(nowMs + dayMs)];
  const end = expiresAt.toISOString();
  const seal = sealPayment(vault, {
    ...scope,
    ...terms,
    ...begun,
    id,
    walletKind,
    treasury,
    address,
    mac,
    amount: terms.amount.toString(),
    derivationIndex: index.toString(),
    tiers: [{ atLeast: '0', kind: 'depth', depth: 2 }],
    toleranceBps: 0,
    dustFloor: '0',
    latePolicy: 'accept',
    lateWindowSeconds: 2_592_000,
    description: null,
    metadata: `{"order":"${n}"}`,
    callbackUrl: null,
    redirectUrl: null,
    externalId: null,
    headNumber: null,
    createdAt,
    expiresAt,
  });
  const row = [
    accountId, 'sandbox', id, terms.amount, terms.decimals, terms.currency, terms.network, terms.caip2, terms.contract, address,
    walletKind, treasury, index, `\\\\x${mac.toString('hex')}`, `\\\\x${seal.toString('hex')}`, '[{"atLeast":"0","kind":"depth","depth":2}]', 0, 'accept', 2_592_000,
    `{"order":"${n}"}`, createdAt.toISOString(), end, end,
  ].join('\t'); // biome-ignore format: one row
  return { row: `${row}\n`, address };
};

/** Drops the indexes while rows are written: with them, a million rows would take many minutes. */
const withoutIndexes = async (client: pg.Client, work: () => Promise<void>): Promise<void> => {
  const { rows } = await client.query<PaymentIndex>(paymentIndexes);
  for (const { removal } of rows) await client.query(removal);
  await work();
  await client.query(`set maintenance_work_mem = '512MB'`);
  for (const { definition } of rows) await client.query(definition);
};

/** Writes pending payments of a new account, with real addresses and seals. Returns the addresses. */
export const writeOpenPayments = async (
  scene: Scene,
  context: Context,
  options: { database: string; payments: number; withEvents: boolean },
): Promise<string[]> => {
  const account = await createAccount(context, { name: 'Payers', plan: 'enterprise', rateLimit: null, burst: null });
  const addresses: string[] = [];
  await withClient(superuserOf(scene, options.database), async client => {
    // No triggers: the rows are valid, and checking each foreign key takes longer than writing.
    await client.query('set session_replication_role = replica');
    await withoutIndexes(client, async () => {
      for (let at = 0; at < options.payments; at += chunkRows) {
        const lines: string[] = [];
        for (let n = at; n < Math.min(at + chunkRows, options.payments); n++) {
          const { row, address } = pendingPayment(context, account.id, n, context.clock.nowMs());
          lines.push(row);
          addresses.push(address);
        }
        await copyRows(client, `payments (${columns})`, lines.join(''));
      }
    });
    if (options.withEvents) await client.query(createdEvents);
    await client.query('vacuum analyze');
  });
  return addresses;
};
