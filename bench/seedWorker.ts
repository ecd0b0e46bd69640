import { closeSync, openSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { createIds } from '../src/cli/compose.ts';
import { deriveAddress } from '../src/engine/payments/paymentAddress.ts';
import { sealPayment } from '../src/engine/payments/paymentSeal.ts';
import { begun } from '../src/engine/payments/sealNewPayment.ts';
import { loadMasterKey } from '../src/vault/masterKey.ts';
import { createVault } from '../src/vault/vault.ts';
import { type Chunk, combinationOf, type SeedPlan, timeOf } from './seedPlan.ts';

const plan = workerData as SeedPlan;
const vault = createVault(await loadMasterKey({ dataDir: plan.dataDir }));
const scope = { accountId: plan.accountId, environment: 'sandbox' } as const;

const caip2 = 'eip155:31337';
const contract = '0xC8f69cfAFe638A2Cb93D8c9dd8E61D0326989727';
const absent = '\\N';

const rowOf = (n: number, ids: ReturnType<typeof createIds>): string => {
  const ms = timeOf(plan, n);
  const { id } = ids.next('payment', ms);
  const { status, currency, network } = combinationOf(n);
  const index = BigInt(plan.firstIndex + n);
  const amount = BigInt(1_000_000 + (n % 99_000_000));
  const address = deriveAddress(vault, { scope, walletKind: 'forwarder', treasury: plan.treasury, index });
  const walletKind = 'forwarder' as const;
  const seal = {
    ...scope,
    id,
    caip2,
    contract,
    amount,
    decimals: 6,
    currency,
    network,
    walletKind,
    treasury: plan.treasury,
    index,
    address,
  };
  const [createdAt, expiresAt] = [new Date(ms), new Date(ms + 3_600_000)];
  const [at, end] = [createdAt.toISOString(), expiresAt.toISOString()];
  const mac = vault.paymentMac(seal);
  const rowSeal = sealPayment(vault, {
    ...seal,
    ...begun,
    status,
    amount: String(amount),
    amountReceived: status === 'completed' ? String(amount) : '0',
    amountConfirmed: status === 'completed' ? String(amount) : '0',
    completedAt: status === 'completed' ? expiresAt : null,
    canceledAt: status === 'canceled' ? expiresAt : null,
    derivationIndex: String(index),
    mac,
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
  return [
    plan.accountId, 'sandbox', id, status, absent, amount, status === 'completed' ? amount : 0, status === 'completed' ? amount : 0,
    6, currency, network, caip2, contract, address, 'forwarder', plan.treasury, index, `\\\\x${mac.toString('hex')}`,
    '[{"atLeast":"0","kind":"depth","depth":2}]', 0, 'accept', 2_592_000, `{"order":"${n}"}`, at, end,
    status === 'completed' ? end : absent, status === 'canceled' ? end : absent, 1, absent, `\\\\x${rowSeal.toString('hex')}`,
  ].join('\t'); // biome-ignore format: one row
};

/** Writes rows for COPY with real addresses and seals, so that each payment can be listed. */
parentPort!.on('message', ({ file, first, count }: Chunk) => {
  const ids = createIds();
  const out = openSync(file, 'w', 0o644);
  for (let i = 0; i < count; i += 2_000) {
    const lines: string[] = [];
    for (let n = first + i; n < first + Math.min(i + 2_000, count); n++) lines.push(rowOf(n, ids));
    writeSync(out, `${lines.join('\n')}\n`);
  }
  closeSync(out);
  parentPort!.postMessage(file);
});
